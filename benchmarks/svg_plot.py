"""A small line plot as SVG text: panels side by side, one legend."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from math import floor, log10

COLOURS = ("#000000", "#0072b2", "#e69f00", "#009e73", "#d55e00", "#cc79a7")
WIDTH, HEIGHT, LEFT, TOP, GAP, LEGEND = 260, 200, 46, 26, 52, 20
MOST_TICKS = 6


@dataclass(frozen=True, slots=True)
class Panel:
    """Lines by name over the same x, each of them a list of (y, half of the bar around it)."""

    title: str
    x: Sequence[float]
    lines: Mapping[str, Sequence[tuple[float, float]]]


def plot(panels: Sequence[Panel], x_label: str, y_label: str) -> str:
    """All panels in one row, each with its own scale."""
    names = list(panels[0].lines)
    width = LEFT + len(panels) * (WIDTH + GAP)
    height = TOP + HEIGHT + 44 + LEGEND * ((len(names) + 1) // 2)
    parts = [
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
            'font-family="sans-serif" font-size="11">'
        ),
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
    ]
    for number, panel in enumerate(panels):
        parts += _panel(panel, LEFT + number * (WIDTH + GAP))
    bottom = TOP + HEIGHT
    parts.append(_text(LEFT, TOP - 10, y_label, "start"))
    parts.append(_text(width / 2, bottom + 30, x_label, "middle"))
    for number, name in enumerate(names):
        x = LEFT + (number % 2) * (width - LEFT) / 2
        y = bottom + 44 + LEGEND * (number // 2)
        parts.append(
            f'<line x1="{x}" y1="{y}" x2="{x + 22}" y2="{y}" stroke="{COLOURS[number]}" '
            'stroke-width="2"/>'
        )
        parts.append(_text(x + 28, y + 4, name, "start"))
    return "\n".join([*parts, "</svg>", ""])


def _panel(panel: Panel, left: float) -> list[str]:
    top = max(y + bar for line in panel.lines.values() for y, bar in line) * 1.05 or 1.0
    across, up = WIDTH / panel.x[-1], HEIGHT / top
    bottom = TOP + HEIGHT
    parts = [
        (
            f'<rect x="{left}" y="{TOP}" width="{WIDTH}" height="{HEIGHT}" fill="none" '
            'stroke="#999999"/>'
        ),
        _text(left + WIDTH / 2, TOP - 10, panel.title, "middle"),
    ]
    for x in _ticks(panel.x[-1]):
        parts.append(_text(left + x * across, bottom + 14, f"{x:,.0f}", "middle"))
    for y in _ticks(top):
        parts.append(_text(left - 4, bottom - y * up + 4, f"{y:g}", "end"))
    for colour, line in zip(COLOURS, panel.lines.values(), strict=False):
        points = [(left + x * across, y, bar) for x, (y, bar) in zip(panel.x, line, strict=True)]
        path = " ".join(f"{x:.1f},{bottom - y * up:.1f}" for x, y, _ in points)
        parts.append(
            f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="1.6"/>'
        )
        x, y, bar = points[-1]
        parts.append(
            f'<line x1="{x:.1f}" y1="{bottom - (y + bar) * up:.1f}" x2="{x:.1f}" '
            f'y2="{bottom - max(0.0, y - bar) * up:.1f}" stroke="{colour}" stroke-width="3"/>'
        )
    return parts


def _ticks(top: float) -> list[float]:
    """Round numbers from 0 to at most top, three to six of them."""
    step = 10.0 ** floor(log10(top))
    step *= next(factor for factor in (0.2, 0.5, 1, 2) if top / (factor * step) < MOST_TICKS)
    return [number * step for number in range(int(top / step + 1e-9) + 1)]


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'
