"""The results as one SVG picture: a row for each operation, a dot for each candidate, time on a logarithmic scale."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final
from xml.sax.saxutils import escape

from memcore_conformance.bench.measure import OPERATIONS
from memcore_conformance.bench.report import heading, show

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from memcore_conformance.bench.candidates import Group
    from memcore_conformance.bench.measure import Measurements
    from memcore_conformance.bench.report import Report

_WIDTH, _LEFT, _RIGHT = 960, 210, 40
_ROW: Final = 22
_COLOURS: Final = ("#d1495b", "#edae49", "#00798c", "#30638e", "#003d5b", "#66a182", "#8d6b94")
_SECONDS: Final = tuple(name for name in OPERATIONS if name != "bytes an item")


def chart(report: Report) -> str:
    """Return the picture of a report, one panel for each group and size."""
    shapes: list[str] = []
    top = 0
    for group, measured in report.results:
        for measurements in measured:
            panel = list(_panel(group, measurements))
            height = _height(measurements)
            shapes += [f'<g transform="translate(0 {top})">', *panel, "</g>"]
            top += height
    size = f'width="{_WIDTH}" height="{top}" viewBox="0 0 {_WIDTH} {top}"'
    return "\n".join(
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif" font-size="12">',
            '<rect width="100%" height="100%" fill="white"/>',
            *shapes,
            "</svg>\n",
        )
    )


def _height(measurements: Measurements) -> int:
    return _ROW * (5 + sum(name in measurements.figures for name in _SECONDS))


def _panel(group: Group, measurements: Measurements) -> Iterator[str]:
    rows = [name for name in _SECONDS if name in measurements.figures]
    names = [candidate.name for candidate in group.candidates]
    colours = dict(zip(names, _COLOURS * len(names), strict=False))
    figures = {(row, name): measurements.typical(row, name) for row in rows for name in names}
    scale = _Scale(figure for figure in figures.values() if figure)
    yield _text(_LEFT, _ROW, heading(group, measurements), weight="bold")
    for number, (name, colour) in enumerate(colours.items()):
        left = _LEFT + number * (_WIDTH - _LEFT) // len(colours)
        yield f'<circle cx="{left + 5}" cy="{2 * _ROW - 4}" r="5" fill="{colour}"/>{_text(left + 14, 2 * _ROW, name)}'
    bottom = _ROW * (3 + len(rows))
    for second in scale.ticks():
        x = scale.place(second)
        yield f'<line x1="{x}" y1="{2.5 * _ROW}" x2="{x}" y2="{bottom}" stroke="#ddd"/>'
        yield _text(x, bottom + 14, f"{second * 1e6:,g} µs", anchor="middle")
    for number, row in enumerate(rows):
        y = _ROW * (3 + number) + 4
        yield _text(_LEFT - 12, y + 4, row, anchor="end")
        yield f'<line x1="{_LEFT}" y1="{y}" x2="{_WIDTH - _RIGHT}" y2="{y}" stroke="#eee"/>'
        for name, colour in reversed(colours.items()):  # the adapters come last and lie on top
            figure = figures[row, name]
            if figure:
                title = f"<title>{escape(name)}: {show(row, figure)}</title>"
                yield f'<circle cx="{scale.place(figure)}" cy="{y}" r="5" fill="{colour}">{title}</circle>'


class _Scale:
    """A logarithmic scale over whole powers of ten."""

    def __init__(self, figures: Iterable[float]) -> None:
        logs = [math.log10(figure) for figure in figures] or [0.0]
        self._low, self._high = math.floor(min(logs)), math.floor(max(logs)) + 1

    def ticks(self) -> list[float]:
        return [10.0**power for power in range(self._low, self._high + 1)]

    def place(self, figure: float) -> int:
        share = (math.log10(figure) - self._low) / (self._high - self._low)
        return round(_LEFT + share * (_WIDTH - _LEFT - _RIGHT))


def _text(x: int, y: int, text: str, *, anchor: str = "start", weight: str = "normal") -> str:
    return f'<text x="{x}" y="{y}" text-anchor="{anchor}" font-weight="{weight}">{escape(text)}</text>'
