"""Cutting a document into passages that the embedding model reads whole.

Sentences are packed until the model's window is full. Where a passage stands (title and headings) is embedded with
it, so a passage ends where the headings change, unless it is too small to stand alone. A passage repeats the end of
the one before it when both stand under the same headings, so that a sentence and what it refers to are found
together; a table that is cut repeats its header row instead.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import takewhile

from botforge.domain.chunk import Block, Chunk, ExtractedText
from botforge.domain.errors import DocumentFailed
from botforge.domain.pieces import Piece, Spans, cut, is_heading, joined
from botforge.domain.reasons import Reason

MAX_TOKENS = 254  # what all-MiniLM-L6-v2 reads: 256 without its two special tokens
OVERLAP_TOKENS = 32
MIN_TOKENS = 24  # a section smaller than this joins the next one
MAX_CHARACTERS = 4_000  # of a passage: to the model a word of 100,000 letters is one token


def chunk_blocks(
    extracted: ExtractedText,
    spans: Spans,
    *,
    max_tokens: int = MAX_TOKENS,
    overlap_tokens: int = OVERLAP_TOKENS,
    min_tokens: int = MIN_TOKENS,
    max_chunks: int | None = None,
) -> list[Chunk]:
    """The document's passages in order; none for a document without text.

    ``spans`` gives the token offsets of a text as the embedding model sees it; ``max_tokens`` (at least 16) bounds
    ``Chunk.embedding_text``, title and headings included, which get at most a third of it. Raises DocumentFailed
    (too_complex) beyond ``max_chunks``.
    """
    packer = _Packer(extracted.title, spans, max_tokens, overlap_tokens, min_tokens)
    chunks: list[Chunk] = []
    for passage in packer.passages(extracted.blocks):
        if max_chunks is not None and len(chunks) == max_chunks:
            raise DocumentFailed(Reason.TOO_COMPLEX, f"It is longer than {max_chunks} passages.")
        context = passage.context
        page = passage.pieces[0].block.page
        chunks.append(Chunk(len(chunks), joined(passage.pieces), context.title, context.headings, page))
    return chunks


@dataclass(frozen=True, slots=True)
class _Context:
    """Where a passage stands, as far as there is room to say it."""

    title: str | None
    headings: tuple[str, ...]
    budget: int  # tokens left for the text


@dataclass(slots=True)
class _Passage:
    headings: tuple[str, ...]  # of the block that was added last
    shared: tuple[str, ...]  # what the headings of all blocks have in common
    context: _Context
    pieces: list[Piece] = field(default_factory=list[Piece])
    repeated: int = 0  # pieces at the beginning that stand in the passage before, too

    @property
    def tokens(self) -> int:
        return sum(piece.tokens for piece in self.pieces)

    @property
    def has_news(self) -> bool:
        return len(self.pieces) > self.repeated

    @property
    def has_body(self) -> bool:
        return any(not is_heading(piece.block) for piece in self.pieces[self.repeated :])

    def takes(self, piece: Piece) -> bool:
        characters = sum(other.length + 2 for other in self.pieces) + piece.length
        return self.tokens + piece.tokens <= self.context.budget and characters <= MAX_CHARACTERS


class _Packer:
    def __init__(self, title: str | None, spans: Spans, max_tokens: int, overlap: int, least: int) -> None:
        self._title = title
        self._spans = spans
        self._max_tokens = max_tokens
        self._overlap = overlap
        self._least = least
        self._contexts: dict[tuple[str, ...], _Context] = {}

    def passages(self, blocks: Sequence[Block]) -> Iterator[_Passage]:
        current = self._begin(())
        for block in blocks:
            if block.headings != current.headings:
                shared = _common(current.shared, block.headings) if current.has_body else block.headings
                if self._stands_alone(current, shared):
                    yield current
                    current = self._begin(block.headings)
                else:
                    current.headings, current.shared, current.context = block.headings, shared, self._context(shared)
            budget = min(current.context.budget, self._context(block.headings).budget)
            room = budget - sum(piece.tokens for piece in _ending_headings(current.pieces))
            for piece in cut(block, self._spans, max_tokens=budget, first=room, max_characters=MAX_CHARACTERS):
                if current.has_news and not current.takes(piece):
                    full, current = current, self._following(current, piece)
                    yield full
                current.pieces.append(piece)
        if current.has_news:
            yield current

    def _begin(self, headings: tuple[str, ...]) -> _Passage:
        return _Passage(headings, headings, self._context(headings))

    def _stands_alone(self, passage: _Passage, shared: tuple[str, ...]) -> bool:
        """Whether a passage ends where the headings change, rather than go on under what the two have in common."""
        large = passage.has_body and passage.tokens >= self._least
        return large or passage.tokens > self._context(shared).budget

    def _following(self, full: _Passage, coming: Piece) -> _Passage:
        """The passage after a full one. Headings that would end that one move over; else its end is repeated."""
        following = self._begin(coming.block.headings)
        room = following.context.budget - coming.tokens
        carried = _ending_headings(full.pieces)
        if carried and full.has_body and sum(piece.tokens for piece in carried) <= room:
            del full.pieces[-len(carried) :]
            following.pieces = carried
        else:
            following.pieces = self._repeated(full, coming, room)
            following.repeated = len(following.pieces)
        return following

    def _repeated(self, full: _Passage, coming: Piece, room: int) -> list[Piece]:
        """A table's header where the table was cut; for prose the last sentences, as many as may be repeated."""
        block = coming.block
        if block.header:
            header = Block(block.header, block.headings, block.page)
            tokens = len(self._spans(block.header))
            fits = tokens <= min(room, self._max_tokens // 3) and full.pieces[-1].block is block
            return [Piece(header, 0, len(block.header), tokens)] if fits else []
        room = min(room, self._overlap)
        pieces: list[Piece] = []
        for piece in reversed(full.pieces[1:]):
            room -= piece.tokens
            if room < 0 or piece.block.headings != block.headings or is_heading(piece.block):
                break
            pieces.insert(0, piece)
        return pieces

    def _context(self, headings: tuple[str, ...]) -> _Context:
        if headings not in self._contexts:
            self._contexts[headings] = self._fitted(headings)
        return self._contexts[headings]

    def _fitted(self, headings: tuple[str, ...]) -> _Context:
        """Title and headings in a third of the window: outer headings go first, then ends are cut off."""
        title, allowed = self._title, self._max_tokens // 3
        while len(headings) > 1 and self._size(title, headings) > allowed:
            headings = headings[1:]
        if self._size(title, headings) > allowed:
            title = self._shortened(title or "", allowed // 2) or None
            headings = tuple(self._shortened(heading, allowed // 2 - 2) for heading in headings)
        return _Context(title, headings, self._max_tokens - self._size(title, headings))

    def _size(self, title: str | None, headings: tuple[str, ...]) -> int:
        return len(self._spans(Chunk(0, "", title, headings).embedding_text))

    def _shortened(self, text: str, tokens: int) -> str:
        spans = self._spans(text)
        return text[: spans[tokens - 1][1]] if len(spans) > tokens else text


def _ending_headings(pieces: Sequence[Piece]) -> list[Piece]:
    return list(takewhile(lambda piece: is_heading(piece.block), reversed(pieces)))[::-1]


def _common(one: tuple[str, ...], other: tuple[str, ...]) -> tuple[str, ...]:
    length = next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    return one[:length]
