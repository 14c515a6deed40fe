"""The command: `python -m memcore_conformance.bench URL…`."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import tempfile
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Final

from memcore_conformance.bench.candidates import group
from memcore_conformance.bench.chart import chart
from memcore_conformance.bench.environment import default_folder, describe
from memcore_conformance.bench.measure import analysis_seconds, measure
from memcore_conformance.bench.report import Report
from memcore_conformance.bench.scopes import OTHERS, measure_scopes
from memcore_conformance.bench.startup import IMPORT_MEMCORE, IMPORT_PYDANTIC, run_fresh
from memcore_conformance.bench.timing import CLOCKS
from memcore_conformance.bench.workload import make_items

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memcore_conformance.bench.goals import Extra

_CLOCKS_SHOWN: Final = {
    "wall": "wall",
    "processor": "processor time; wall for imports, first results and several processes",
}


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure what the arguments say, and print the report."""
    options = _parser().parse_args(arguments)
    options.dir.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="memcore-bench-", dir=options.dir) as root:
        report = asyncio.run(_run(options, Path(root)))
    if options.json:
        options.json.write_text(json.dumps(report.data(), indent=1), encoding="utf-8")
    if options.svg:
        options.svg.write_text(chart(report), encoding="utf-8")
    sys.stdout.write(report.text())


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="bench",
        description="Measure any adapter by its URL, with raw limits and installed peers beside it in the same run.",
        epilog="A relative path in a URL lies in a folder of the run. Whatever the URL, the run keeps to a namespace "
        "of its own and erases it at the end.",
    )
    parser.add_argument("urls", nargs="+", metavar="URL", help="memory://, sqlite:///bench.db, …")
    parser.add_argument("--sizes", type=_sizes, default=(10_000, 100_000), help="items in the store: 10000,100000")
    parser.add_argument(
        "--dir",
        type=Path,
        default=default_folder(),
        help="where files go: %(default)s; give a folder on a disk for a disk run",
    )
    parser.add_argument(
        "--others",
        type=_sizes,
        default=OTHERS,
        help="other users, among whose records one user's are searched: 1,1000,100000",
    )
    parser.add_argument("--runs", type=_positive, default=5, help="rounds, whose medians count: %(default)s")
    parser.add_argument(
        "--clock", choices=CLOCKS, default="wall", help="processor: steadier on a busy machine, blind to waiting"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every figure of every round")
    parser.add_argument("--svg", type=Path, metavar="FILE", help="draw a chart")
    return parser


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise ValueError(text)
    return number


def _sizes(text: str) -> tuple[int, ...]:
    return tuple(sorted({_positive(size) for size in text.split(",")}))


async def _run(options: argparse.Namespace, root: Path) -> Report:
    environment, clock = describe(root), CLOCKS[options.clock]
    importing = _importing(options.runs, root)
    results, scopes = [], []
    for number, candidates in enumerate(group(options.urls)):
        measured = [
            await measure(
                candidates,
                size=size,
                runs=options.runs,
                root=root / str(number),
                clock=clock,
                writers=size == min(options.sizes),
                tell=_tell,
            )
            for size in options.sizes
        ]
        results.append((candidates, measured))
        for place, adapter in enumerate(candidates.adapters):
            figures = await measure_scopes(
                adapter,
                scheme=candidates.scheme,
                others=options.others,
                runs=options.runs,
                root=root / f"{number}-scopes-{place}",
                clock=clock,
                tell=_tell,
            )
            scopes += [figures] if figures else []
    costs: dict[Extra, float] = {
        "analysis": analysis_seconds(make_items(2_000), clock=clock),
        "pydantic": importing["pydantic"],
    }
    environment |= {"load at the end": describe(root)["load"], "clock": _CLOCKS_SHOWN[options.clock]}
    return Report(environment, options.runs, importing, costs, results, scopes)


def _importing(runs: int, folder: Path) -> dict[str, float]:
    programs = {"memcore": IMPORT_MEMCORE, "pydantic": IMPORT_PYDANTIC}
    rounds = [{name: run_fresh(program, folder=folder) for name, program in programs.items()} for _ in range(runs)]
    return {name: median(figures[name] for figures in rounds) for name in programs}


def _tell(text: str) -> None:
    sys.stderr.write(text + "\n")
    sys.stderr.flush()


if __name__ == "__main__":
    main()
