"""A router's decisions as a picture: a row a source.

Confusion, accuracy against coverage (the most confident share decided), and reliability (what was said against what was
so, ten bins; a circle's area is its bin's share).
"""

from collections.abc import Sequence

from botforge.domain.query import Intent
from botforge_dev.routing.outcomes import Outcome, accuracy_at

_SIDE, _GAP, _TOP = 150, 60, 40  # of a picture, in pixels
_BINS = 10
_LEAST = 0.8  # where the axis of accuracy begins
_INK, _FAINT, _MARK = "#222222", "#bbbbbb", "#2a6fb0"


def drawn(outcomes: Sequence[Outcome]) -> str:
    sources = sorted({outcome.message.source for outcome in outcomes})
    rows = [
        ("all", list(outcomes)),
        *((name, [one for one in outcomes if one.message.source == name]) for name in sources),
    ]
    height = len(rows) * (_SIDE + _GAP) + _TOP
    width = 3 * (_SIDE + _GAP) + _GAP
    opening = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'font-family="sans-serif" font-size="11" fill="{_INK}">'
    )
    parts = [opening, f'<rect width="{width}" height="{height}" fill="white"/>']
    for number, (name, of_source) in enumerate(rows):
        y = _TOP + number * (_SIDE + _GAP)
        parts.append(f'<text x="{_GAP}" y="{y - 22}" font-weight="bold">{name}, {len(of_source)} messages</text>')
        for column, draw in enumerate((_confusion, _coverage, _reliability)):
            x = _GAP + column * (_SIDE + _GAP)
            parts.append(f'<g transform="translate({x},{y})">{draw(of_source)}</g>')
    return "\n".join([*parts, "</svg>\n"])


def _confusion(outcomes: Sequence[Outcome]) -> str:
    half = _SIDE // 2
    parts = [_title("needs (row), decided (column)")]
    for row, (acts, word) in enumerate(((True, "act"), (False, "know"))):
        of_label = [one for one in outcomes if one.message.acts == acts]
        middle = row * half + half // 2
        parts.append(_text(-6, middle, word, "end") + _text(middle, _SIDE + 14, word, "middle"))
        for column, decided in enumerate((Intent.EXECUTION, Intent.INFORMATION_RETRIEVAL)):
            count = sum(one.routing.intent is decided for one in of_label)
            share = count / len(of_label) if of_label else 0.0
            parts.append(
                f'<rect x="{column * half}" y="{row * half}" width="{half}" height="{half}" fill="{_MARK}" '
                f'fill-opacity="{share * 0.6:.2f}" stroke="{_FAINT}"/>'
            )
            parts.append(_text(column * half + half // 2, middle, str(count), "middle"))
    return "".join(parts)


def _coverage(outcomes: Sequence[Outcome]) -> str:
    points = [(share / 20, accuracy_at(outcomes, share / 20)) for share in range(1, 21)]
    line = " ".join(f"{_SIDE * x:.1f},{_SIDE * (1 - (max(y, _LEAST) - _LEAST) / (1 - _LEAST)):.1f}" for x, y in points)
    axes = f'<polyline points="{line}" fill="none" stroke="{_MARK}" stroke-width="2"/>'
    return _title("right, of the share decided") + _frame(str(_LEAST), "1") + axes


def _reliability(outcomes: Sequence[Outcome]) -> str:
    parts = [_title("acts, of those said to act"), _frame("0", "1")]
    parts.append(f'<line x1="0" y1="{_SIDE}" x2="{_SIDE}" y2="0" stroke="{_FAINT}"/>')
    for each in range(_BINS):
        inside = [one for one in outcomes if min(_BINS - 1, int(one.routing.p_execution * _BINS)) == each]
        if inside:
            said = sum(one.routing.p_execution for one in inside) / len(inside)
            so = sum(one.message.acts for one in inside) / len(inside)
            radius = max(1.5, 14 * (len(inside) / len(outcomes)) ** 0.5)
            parts.append(
                f'<circle cx="{_SIDE * said:.1f}" cy="{_SIDE * (1 - so):.1f}" r="{radius:.1f}" fill="{_MARK}" '
                'fill-opacity="0.6"/>'
            )
    return "".join(parts)


def _frame(low: str, high: str) -> str:
    square = f'<rect width="{_SIDE}" height="{_SIDE}" fill="none" stroke="{_FAINT}"/>'
    upright = _text(-6, _SIDE, low, "end") + _text(-6, 8, high, "end")
    return square + upright + _text(0, _SIDE + 14, "0", "start") + _text(_SIDE, _SIDE + 14, "1", "end")


def _text(x: int, y: int, text: str, anchor: str) -> str:
    return f'<text x="{x}" y="{y}" text-anchor="{anchor}">{text}</text>'


def _title(text: str) -> str:
    return f'<text y="-6">{text}</text>'
