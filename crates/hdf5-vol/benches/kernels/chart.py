"""A figure as SVG: how much native HDF5 and the connector write and read in a second. No package is needed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape

WIDTH, HEIGHT, LEFT, TOP, BOTTOM = 460, 300, 62, 34, 56
COLOURS = {"native": "#5b6b7b", "isotach": "#c2491d"}
MARKS = {"native": "M-4-4h8v8h-8z", "isotach": "M0-5 5 4H-5z"}


@dataclass(frozen=True)
class Panel:
    """A title, and for each connector a value at each label; None where a run failed."""

    title: str
    labels: Sequence[str]
    values: dict[str, Sequence[float | None]]


def ceiling(value: float) -> float:
    """The next of 1, 2, 5 times a power of ten."""
    power = 10.0 ** len(str(int(value))) / 10
    return next(step * power for step in (1, 2, 5, 10) if step * power >= value)


def text(x: float, y: float, words: str, more: str = "") -> str:
    """A line of text."""
    return f'<text x="{x:.1f}" y="{y:.1f}" {more}>{escape(words)}</text>'


def curve(name: str, values: Sequence[float | None], xs: Sequence[float], top: float) -> str:
    """The line of a connector, with a mark at each value."""
    height = HEIGHT - TOP - BOTTOM
    points = [
        (x, TOP + height * (1 - value / top))
        for x, value in zip(xs, values, strict=True)
        if value is not None
    ]
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    marks = "".join(f'<path d="{MARKS[name]}" transform="translate({x:.1f} {y:.1f})"/>' for x, y in points)
    colour = COLOURS[name]
    return f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2"/><g fill="{colour}">{marks}</g>'


def draw_panel(panel: Panel, axis: str) -> str:
    """The axes, the lines and their names."""
    known = [value for values in panel.values.values() for value in values if value is not None]
    top = ceiling(max(known, default=1.0))
    step = (WIDTH - LEFT - 20) / len(panel.labels)
    xs = [LEFT + step * (number + 0.5) for number in range(len(panel.labels))]
    parts = [text(LEFT, 20, panel.title, 'font-weight="bold"')]
    for quarter in range(5):
        y = TOP + (HEIGHT - TOP - BOTTOM) * (1 - quarter / 4)
        parts.append(f'<path d="M{LEFT} {y:.1f}H{WIDTH - 20}" stroke="#d5dadf"/>')
        parts.append(text(LEFT - 6, y + 4, f"{top * quarter / 4:g}", 'text-anchor="end"'))
    parts += [
        text(x, HEIGHT - BOTTOM + 18, label, 'text-anchor="middle"')
        for x, label in zip(xs, panel.labels, strict=True)
    ]
    parts.append(text((LEFT + WIDTH) / 2, HEIGHT - 14, axis, 'text-anchor="middle"'))
    for number, (name, values) in enumerate(panel.values.items()):
        parts.append(curve(name, values, xs, top))
        parts.append(text(WIDTH - 140 + 66 * number, 20, name, f'fill="{COLOURS[name]}"'))
    return "".join(parts)


def draw(title: str, axis: str, panels: Sequence[Panel]) -> str:
    """The whole picture, panels beside each other."""
    width = WIDTH * len(panels)
    body = "".join(
        f'<g transform="translate({WIDTH * number} 22)">{draw_panel(panel, axis)}</g>'
        for number, panel in enumerate(panels)
    )
    heading = text(14, 18, title, 'font-size="14"')
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {HEIGHT + 22}" font-family="sans-serif" font-size="11">'
        f'<rect width="100%" height="100%" fill="#fff"/>{heading}{body}</svg>\n'
    )
