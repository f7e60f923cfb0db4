"""The path of headings under which a text stands, as a reader keeps it while going through a document."""

from dataclasses import dataclass, field

_LONGEST = 200  # characters: a longer "heading" is a paragraph in disguise, and is cut


@dataclass(slots=True)
class HeadingPath:
    _open: list[tuple[int, str]] = field(default_factory=list[tuple[int, str]])

    def enter(self, level: int, text: str) -> None:
        """Begin a section; those of the same or a deeper level end."""
        while self._open and self._open[-1][0] >= level:
            self._open.pop()
        if text:
            self._open.append((level, text[:_LONGEST]))

    @property
    def path(self) -> tuple[str, ...]:
        return tuple(text for _, text in self._open)
