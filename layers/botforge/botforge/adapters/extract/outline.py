"""Keeps track of which headings a block stands under, for formats that know headings."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from botforge.domain.chunk import Block


@dataclass(slots=True)
class Outline:
    """Collects blocks. A heading is a block of its own as well, so that no text stands only in the headings.

    ``page`` is the page that is being read, where there are pages.
    """

    page: int | None = None
    blocks: list[Block] = field(default_factory=list[Block])
    _open: list[tuple[int, str]] = field(default_factory=list[tuple[int, str]])

    @property
    def headings(self) -> tuple[str, ...]:
        return tuple(text for _, text in self._open)

    def heading(self, level: int, text: str) -> None:
        """Open a section; ``level`` counts from 1 and closes sections of the same level and deeper ones."""
        text = " ".join(text.split())
        if not text:
            return
        while self._open and self._open[-1][0] >= level:
            self._open.pop()
        self._open.append((level, text))
        self.blocks.append(Block(text, self.headings, self.page))

    def text(self, text: str) -> None:
        if text.strip():
            self.blocks.append(Block(text, self.headings, self.page))

    def table(self, rows: Sequence[Sequence[str]]) -> None:
        """A table, a line a row; its first row is repeated wherever it is cut, if it can be a header."""
        filled = [[" ".join(cell.split()) for cell in row] for row in rows]
        lines = [" | ".join(row) for row in filled if any(row)]
        if lines:
            header = lines[0] if len(lines) > 2 and is_header(next(row for row in filled if any(row))) else ""
            self.blocks.append(Block("\n".join(lines), self.headings, self.page, header))


def is_header(row: Sequence[str]) -> bool:
    """Whether a table's first row can name its columns: several short, different texts, none of them a number."""
    return (
        len(row) > 1
        and len(set(row)) == len(row)
        and sum(map(len, row)) <= 200
        and not any(cell[:1].isdigit() or cell[:1] in "+-" for cell in row if cell)
        and sum(bool(cell) for cell in row) * 2 > len(row)
    )
