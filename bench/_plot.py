"""Lines on two logarithmic axes, as an SVG image. What grows in proportion has the slope of the grey line."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape

_WIDTH, _HEIGHT = 860, 480
_LEFT, _RIGHT, _TOP, _BOTTOM = 70, 230, 20, 60

# Readers with a dark screen get a dark plot: the browser asks their system.
_STYLE = (
    "<style>.ground{fill:#fff}text{fill:#222}.axis{stroke:#222}.grid{stroke:#ddd}"
    "@media(prefers-color-scheme:dark){.ground{fill:#131416}text{fill:#cfd0d0}.axis{stroke:#cfd0d0}.grid{stroke:#333}}"
    "</style>"
)

# A position on an axis, in pixels.
Scale = Callable[[float], float]


@dataclass(frozen=True, slots=True)
class Point:
    """A value at `x`, with the lowest and the highest that were seen."""

    x: float
    y: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Series:
    """Points that belong together."""

    name: str
    colour: str
    dashed: bool
    points: tuple[Point, ...]


def draw(series: Sequence[Series], x_name: str, y_name: str) -> str:
    """An SVG image of these lines. All values must be above zero.

    Raises:
        ValueError: there is nothing to draw.
    """
    points = [point for item in series for point in item.points]
    if not points:
        raise ValueError("nothing to draw")
    x_range = _range([point.x for point in points])
    y_range = _range([value for point in points for value in (point.low, point.high)])
    x = _scale(x_range, _LEFT, _WIDTH - _RIGHT)
    y = _scale(y_range, _HEIGHT - _BOTTOM, _TOP)
    body = [
        *_axes(x, y, x_range, y_range, sorted({point.x for point in points})),
        *_names(x_name, y_name),
        _slope(x, y, x_range, y_range, points),
    ]
    for number, entry in enumerate(series):
        body += _line(entry, x, y)
        body += _entry(entry, number)
    size = f'viewBox="0 0 {_WIDTH} {_HEIGHT}" width="{_WIDTH}" height="{_HEIGHT}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif" font-size="13">'
    ground = f'<rect width="{_WIDTH}" height="{_HEIGHT}" class="ground"/>'
    return "\n".join([head, _STYLE, ground, *body, "</svg>"]) + "\n"


def _range(values: Sequence[float]) -> tuple[float, float]:
    return min(values) / 1.2, max(values) * 1.2


def _scale(values: tuple[float, float], start: float, end: float) -> Scale:
    low, high = math.log(values[0]), math.log(values[1])
    return lambda value: start + (math.log(value) - low) / (high - low) * (end - start)


def _axes(
    x: Scale, y: Scale, x_range: tuple[float, float], y_range: tuple[float, float], ticks: Sequence[float]
) -> Iterator[str]:
    right, bottom = x(x_range[1]), y(y_range[0])
    for value in _round_values(y_range):
        yield f'<path d="M{_LEFT} {y(value):.1f}H{right:.1f}" class="grid"/>'
        yield f'<text x="{_LEFT - 8}" y="{y(value) + 4:.1f}" text-anchor="end">{value:g}</text>'
    for value in ticks:
        yield f'<path d="M{x(value):.1f} {_TOP}V{bottom:.1f}" class="grid"/>'
        yield f'<text x="{x(value):.1f}" y="{bottom + 18:.1f}" text-anchor="middle">{value:g}</text>'
    yield f'<path d="M{_LEFT} {_TOP}V{bottom:.1f}H{right:.1f}" fill="none" class="axis"/>'


def _round_values(values: tuple[float, float]) -> Iterable[float]:
    """1, 2, 5 and their multiples by powers of ten."""
    for power in range(math.floor(math.log10(values[0])), math.ceil(math.log10(values[1])) + 1):
        for factor in (1, 2, 5):
            if values[0] <= factor * 10.0**power <= values[1]:
                yield factor * 10.0**power


def _names(x_name: str, y_name: str) -> Iterator[str]:
    middle = (_LEFT + _WIDTH - _RIGHT) / 2
    yield f'<text x="{middle:.1f}" y="{_HEIGHT - 15}" text-anchor="middle">{escape(x_name)}</text>'
    height = (_TOP + _HEIGHT - _BOTTOM) / 2
    place = f'x="20" y="{height:.1f}" transform="rotate(-90 20 {height:.1f})"'
    yield f'<text {place} text-anchor="middle">{escape(y_name)}</text>'


def _slope(
    x: Scale, y: Scale, x_range: tuple[float, float], y_range: tuple[float, float], points: Sequence[Point]
) -> str:
    """The diagonals that proportional growth is parallel to."""
    start = min(points, key=lambda point: (point.x, point.y))
    end = min(x_range[1], start.x * y_range[1] / start.y)
    path = f"M{x(start.x):.1f} {y(start.y):.1f}L{x(end):.1f} {y(start.y * end / start.x):.1f}"
    return f'<path d="{path}" stroke="#999999" stroke-dasharray="1 4"/>'


def _line(series: Series, x: Scale, y: Scale) -> Iterator[str]:
    points = sorted(series.points, key=lambda point: point.x)
    path = "L".join(f"{x(point.x):.1f} {y(point.y):.1f}" for point in points)
    yield f'<path d="M{path}" fill="none" stroke="{series.colour}" stroke-width="2"{_dashes(series)}/>'
    for point in points:
        yield f'<path d="M{x(point.x):.1f} {y(point.low):.1f}V{y(point.high):.1f}" stroke="{series.colour}"/>'
        yield f'<circle cx="{x(point.x):.1f}" cy="{y(point.y):.1f}" r="3" fill="{series.colour}"/>'


def _entry(series: Series, number: int) -> Iterator[str]:
    left, height = _WIDTH - _RIGHT + 15, _TOP + 10 + 20 * number
    yield f'<path d="M{left} {height}h30" stroke="{series.colour}" stroke-width="2"{_dashes(series)}/>'
    yield f'<text x="{left + 38}" y="{height + 4}">{escape(series.name)}</text>'


def _dashes(series: Series) -> str:
    return ' stroke-dasharray="7 4"' if series.dashed else ""
