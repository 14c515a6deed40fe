from __future__ import annotations

import socket
import sqlite3
import subprocess
import sys
from typing import TYPE_CHECKING

from memcore_conformance.watch import reaching_out

if TYPE_CHECKING:
    from pathlib import Path


def test_files_for_writing_databases_sockets_and_processes_are_seen(tmp_path: Path) -> None:
    with reaching_out() as events:
        (tmp_path / "file").write_text("x")
        sqlite3.connect(":memory:").close()
        with socket.socket() as server:
            server.bind(("127.0.0.1", 0))
        subprocess.run([sys.executable, "-I", "-S", "-c", ""], check=True)
    assert {"open", "sqlite3.connect", "socket.bind", "subprocess.Popen"} <= set(events)


def test_reading_a_file_is_not_reaching_out(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with reaching_out() as events:
        (tmp_path / "file").read_text()
    assert events == []


def test_nothing_is_seen_outside_of_the_block(tmp_path: Path) -> None:
    with reaching_out() as events:
        pass
    (tmp_path / "file").write_text("x")
    assert events == []
