"""The pieces that passages are packed from: sentences, table rows, and parts of what is too long to be either."""

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from botforge.domain.chunk import Block
from botforge.domain.sentences import sentence_spans

Spans = Callable[[str], Sequence[tuple[int, int]]]  # a text's token offsets, in characters


@dataclass(frozen=True, slots=True)
class Piece:
    """``block.text[start:end]``, and how many tokens that is."""

    block: Block
    start: int
    end: int
    tokens: int

    @property
    def length(self) -> int:
        return self.end - self.start


def is_heading(block: Block) -> bool:
    """Whether the block is the heading that it stands under."""
    return bool(block.headings) and block.text == block.headings[-1]


def cut(block: Block, spans: Spans, *, max_tokens: int, first: int, max_characters: int) -> Iterator[Piece]:
    """The block's sentences (a table's rows), each within the bounds; together they are all of its text.

    What is longer is cut where a line ends, else between words, else (no white space) at a token. ``first``: tokens
    that the first piece may have, as a heading stands before it that should not stand alone.
    """
    starts = [start for start, _ in spans(block.text)]
    room = first if first * 2 > max_tokens else max_tokens
    for begin, end in _line_spans(block.text) if block.header else sentence_spans(block.text):
        start = begin
        while start < end:
            at = bisect_left(starts, start)
            limit = min(starts[at + room] if at + room < len(starts) else end, start + max_characters, end)
            stop = limit if limit == end else _boundary(block.text, start, limit)
            tokens = bisect_left(starts, stop) - at
            if _within_word(block.text, start) or _within_word(block.text, stop):  # a part can have more tokens
                while (tokens := len(spans(block.text[start:stop]))) > room and stop - start > 1:
                    stop = start + (stop - start) // 2
            yield Piece(block, start, stop, tokens)
            start, room = stop, max_tokens


def joined(pieces: Sequence[Piece]) -> str:
    """The pieces' text as it stands in the document: what follows on within a block unbroken, blocks apart."""
    runs: list[list[Piece]] = []
    for piece in pieces:
        if runs and runs[-1][-1].block is piece.block and runs[-1][-1].end == piece.start:
            runs[-1].append(piece)
        else:
            runs.append([piece])
    text = ""
    for run in runs:
        block = run[0].block
        part = block.text[run[0].start : run[-1].end].strip()
        gap = "\n" if text and block.header and text.endswith(block.header) else "\n\n"
        text = f"{text}{gap}{part}" if text else part
    return text


def _within_word(text: str, at: int) -> bool:
    return 0 < at < len(text) and text[at - 1].isalnum() and text[at].isalnum()


def _boundary(text: str, start: int, limit: int) -> int:
    """The last place in the second half of ``text[start:limit]`` where it may be cut."""
    half = start + (limit - start) // 2
    for mark in ("\n", " "):
        found = text.rfind(mark, half, limit)
        if found >= 0:
            return found + 1
    return limit


def _line_spans(text: str) -> Iterator[tuple[int, int]]:
    start = 0
    while start < len(text):
        end = text.find("\n", start) + 1 or len(text)
        if text[start:end].strip():
            yield start, end
        start = end
