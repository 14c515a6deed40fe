"""The command: `python -m memcore_conformance.quality URL… --data PATH…`."""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Final

from memcore.settings import mask_url

from memcore_conformance.bench.report import table
from memcore_conformance.quality.data import read
from memcore_conformance.quality.evaluate import evaluate

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from memcore_conformance.quality.evaluate import Measured, Result

SAMPLE: Final = Path(__file__).with_name("sample.json")
_HEADER: Final = (
    *("adapter, data", "recall@5", "recall@10", "95 %", "recall@20", "MRR@10", "nDCG@10"),
    *("nothing found", "questions", "ms a search"),
)


def main(arguments: Sequence[str] | None = None) -> None:
    """Evaluate what the arguments say, and print a table, in per cent."""
    parser = argparse.ArgumentParser(
        prog="quality",
        description="Measure how much of the labelled evidence an adapter finds, by its URL.",
        epilog="A relative path in a URL lies in a folder of the run. Whatever the URL, the run keeps to namespaces of "
        "its own and erases them at the end.",
    )
    parser.add_argument("urls", nargs="+", metavar="URL", help="memory://, sqlite:///quality.db, …")
    parser.add_argument(
        "--data",
        nargs="+",
        type=Path,
        default=[SAMPLE],
        metavar="PATH",
        help="files, or folders of them; a small sample by default",
    )
    parser.add_argument(
        "--records",
        action="store_true",
        help="write records, whose context is the date and the two documents before, in place of items",
    )
    options = parser.parse_args(arguments)
    files = list(_files(options.data))
    if not files:
        parser.error("there is no .json file in the folder")
    contract: Measured = "records" if options.records else "items"
    rows = [row for url in options.urls for row in asyncio.run(_rows(url, files, contract))]
    sys.stdout.write(table(_HEADER, rows) + "\n")


def _files(paths: Sequence[Path]) -> Iterator[Path]:
    for path in paths:
        yield from sorted(path.glob("*.json")) if path.is_dir() else [path]


async def _rows(url: str, files: Sequence[Path], contract: Measured) -> list[tuple[str, ...]]:
    rows = []
    for file in files:
        data = read(file)
        sys.stderr.write(f"{mask_url(url)}: {data.name}\n")
        with tempfile.TemporaryDirectory(prefix="memcore-quality-") as folder:
            result = await evaluate(url, data, folder=Path(folder), contract=contract)
        named = f"{mask_url(url)}, {data.name}"
        rows.append(_row(f"{named}, records" if contract == "records" else named, result))
    return rows


def _row(name: str, result: Result) -> tuple[str, ...]:
    score, (low, high) = result.score, result.interval
    return (
        name,
        *map(_percent, (score.recall_5, score.recall_10)),
        f"{_percent(low)}-{_percent(high)}",
        *map(_percent, (score.recall_20, score.mrr_10, score.ndcg_10, score.nothing)),
        f"{result.questions:,}",
        f"{result.seconds * 1e3:.2f}",
    )


def _percent(share: float) -> str:
    return f"{100 * share:.1f}"


if __name__ == "__main__":
    main()
