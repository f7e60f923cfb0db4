"""Cutting a document into passages that the embedding model reads whole.

Sentences are packed until the model's window is full, and never across a heading: where a passage stands (title and
headings) is part of what is embedded, so it must hold for all of the passage. A passage repeats the end of the one
before it when both stand under the same heading, so that a sentence and what it refers to are found together.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from botforge.domain.chunk import Block, Chunk, ExtractedText
from botforge.domain.errors import DocumentFailed
from botforge.domain.reasons import Reason
from botforge.domain.sentences import sentence_spans

MAX_TOKENS = 254  # what all-MiniLM-L6-v2 reads: 256 without its two special tokens
OVERLAP_TOKENS = 32
_LEAST_BUDGET = 64  # tokens kept for the text, however long title and headings are
_SMALL_SECTION = 24  # tokens: a section this small joins the next one rather than stand alone

Spans = Callable[[str], Sequence[tuple[int, int]]]


@dataclass(frozen=True, slots=True)
class _Piece:
    """A sentence, or a part of one that is longer than a passage."""

    block: Block
    start: int
    end: int
    tokens: int


@dataclass(slots=True)
class _Passage:
    headings: tuple[str, ...]
    budget: int
    pieces: list[_Piece] = field(default_factory=list[_Piece])
    tokens: int = 0
    repeated: int = 0  # pieces at the beginning that stand in the passage before

    def add(self, piece: _Piece) -> None:
        self.pieces.append(piece)
        self.tokens += piece.tokens

    @property
    def has_news(self) -> bool:
        return len(self.pieces) > self.repeated


def chunk_blocks(
    extracted: ExtractedText,
    spans: Spans,
    *,
    max_tokens: int = MAX_TOKENS,
    overlap_tokens: int = OVERLAP_TOKENS,
    max_chunks: int | None = None,
) -> list[Chunk]:
    """The document's passages in order; none for a document without text.

    ``spans`` gives the token offsets of a text as the embedding model sees it; ``max_tokens`` bounds
    ``Chunk.embedding_text``, title and headings included (which are cut before the text would be). Raises
    DocumentFailed (too_complex) beyond ``max_chunks``.
    """
    chunks: list[Chunk] = []
    for passage in _passages(extracted, spans, max_tokens, overlap_tokens):
        if max_chunks is not None and len(chunks) == max_chunks:
            raise DocumentFailed(Reason.TOO_COMPLEX, f"It is longer than {max_chunks} passages.")
        chunks.append(
            Chunk(
                ordinal=len(chunks),
                text=_text(passage.pieces),
                title=extracted.title,
                headings=passage.headings,
                page=passage.pieces[0].block.page,
            )
        )
    return chunks


def _passages(extracted: ExtractedText, spans: Spans, max_tokens: int, overlap: int) -> Iterator[_Passage]:
    def begin(headings: tuple[str, ...]) -> _Passage:
        context = " > ".join(part for part in (extracted.title, *headings) if part)
        return _Passage(headings, max(_LEAST_BUDGET, max_tokens - len(spans(context)) - 1))

    current = begin(())
    for block in extracted.blocks:
        if block.headings != current.headings and (not current.has_news or current.tokens >= _SMALL_SECTION):
            if current.has_news:
                yield current
            current = begin(block.headings)
        for piece in _pieces(block, spans, current.budget):
            if current.has_news and current.tokens + piece.tokens > current.budget:
                yield current
                current = _continued(current, begin(block.headings), overlap, piece.tokens)
            current.add(piece)
    if current.has_news:
        yield current


def _continued(before: _Passage, fresh: _Passage, overlap: int, coming: int) -> _Passage:
    """A new passage that repeats the last sentences of the one before, as many as fit."""
    if before.headings != fresh.headings:
        return fresh
    repeated: list[_Piece] = []
    tokens = 0
    for piece in reversed(before.pieces[1:]):
        tokens += piece.tokens
        if tokens > overlap or tokens + coming > fresh.budget:
            break
        repeated.insert(0, piece)
    for piece in repeated:
        fresh.add(piece)
    fresh.repeated = len(repeated)
    return fresh


def _pieces(block: Block, spans: Spans, budget: int) -> Iterator[_Piece]:
    tokens = spans(block.text)
    starts = [start for start, _ in tokens]
    for start, end in sentence_spans(block.text):
        first, last = bisect_left(starts, start), bisect_left(starts, end)
        if last - first <= budget:
            yield _Piece(block, start, end, last - first)
            continue
        for cut in range(first, last, budget):  # no sentence at all: a table, a list of numbers, a wall of text
            until = min(cut + budget, last)
            piece_end = starts[until] if until < last else end
            yield _Piece(block, start if cut == first else starts[cut], piece_end, until - cut)


def _text(pieces: Sequence[_Piece]) -> str:
    """The pieces' text as it stands in the document: runs within a block unbroken, blocks apart."""
    runs: list[list[_Piece]] = []
    for piece in pieces:
        if runs and runs[-1][-1].block is piece.block:
            runs[-1].append(piece)
        else:
            runs.append([piece])
    return "\n\n".join(run[0].block.text[run[0].start : run[-1].end].strip() for run in runs)
