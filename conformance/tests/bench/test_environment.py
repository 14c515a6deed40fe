"""The report says where it was made."""

from __future__ import annotations

from pathlib import Path

from memcore_conformance.bench.environment import describe, file_system

MOUNTS = """\
/dev/vda / ext4 rw 0 0
tmpfs /dev/shm tmpfs rw 0 0
server:/x /mnt/with\\040space nfs rw 0 0
"""


def test_the_file_system_is_that_of_the_nearest_mount() -> None:
    assert file_system(Path("/dev/shm/bench"), mounts=MOUNTS) == "tmpfs"  # noqa: S108 - nothing is written
    assert file_system(Path("/var/bench"), mounts=MOUNTS) == "ext4"


def test_a_file_system_that_nobody_tells_is_unknown() -> None:
    assert file_system(Path("/var/bench"), mounts="") == "unknown file system"


def test_versions_and_load_are_told(tmp_path: Path) -> None:
    told = describe(tmp_path)
    assert "memcore 0." in told["versions"]
    assert set(told) == {"machine", "load", "file system", "versions"}
