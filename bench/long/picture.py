"""Lines over time, as a picture of stacked panels (SVG)."""

import html
from dataclasses import dataclass

WIDTH, HEIGHT, LEFT, TOP, GAP = 900, 120, 90, 30, 50
COLOURS = ("#1f5fa8", "#c2571a")


@dataclass(frozen=True)
class Panel:
    title: str
    # Points (minutes, value) of each line, by its name; empty where there is one.
    lines: dict


def draw(file, panels):
    last = max((at for panel in panels for points in panel.lines.values() for at, _ in points), default=1) or 1
    parts = []
    for number, panel in enumerate(panels):
        base = TOP + number * (HEIGHT + GAP) + HEIGHT
        highest = max((value for points in panel.lines.values() for _, value in points), default=1) or 1
        parts += [text(LEFT, base - HEIGHT - 8, panel.title, "start"), text(LEFT - 6, base, "0", "end"),
                  text(LEFT - 6, base - HEIGHT + 10, f"{highest:,.0f}" if highest >= 100 else f"{highest:.3g}", "end"),
                  f'<path d="M{LEFT} {base - HEIGHT}V{base}H{LEFT + WIDTH}" fill="none" stroke="#888"/>']
        for (name, points), colour in zip(panel.lines.items(), COLOURS, strict=False):
            path = " ".join(f"{LEFT + at / last * WIDTH:.1f},{base - value / highest * HEIGHT:.1f}" for at, value in points)
            parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="1.5"/>')
            if name:
                parts.append(text(LEFT + WIDTH - 90 * list(panel.lines).index(name), base - HEIGHT - 8, name, "end", colour))
    bottom = TOP + len(panels) * (HEIGHT + GAP)
    parts += [text(LEFT, bottom - 30, "0", "middle"), text(LEFT + WIDTH, bottom - 30, f"{last:.0f} min", "end")]
    file.write_text(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {LEFT + WIDTH + 20} {bottom}" '
                    'font-family="sans-serif" font-size="13"><rect width="100%" height="100%" fill="white"/>'
                    + "".join(parts) + "</svg>\n")


def text(x, y, what, anchor, colour="#222"):
    return f'<text x="{x}" y="{y}" text-anchor="{anchor}" fill="{colour}">{html.escape(what)}</text>'
