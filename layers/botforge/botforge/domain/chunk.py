"""Text on its way from a document to an answer: block → chunk → passage."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from botforge.domain.ids import ChunkRef
from botforge.domain.sentences import split_sentences

_MAX_SENTENCES = 32  # of a chunk: a full one has a dozen, a list of single words hundreds


@dataclass(frozen=True, slots=True)
class Block:
    """A run of text as an extractor found it: a paragraph, a list, a table row group, a page's column."""

    text: str
    headings: tuple[str, ...] = ()  # from the outermost to the nearest
    page: int | None = None  # 1-based, where the format has pages
    header: str = ""  # a table's first line, which is repeated wherever the table is cut


@dataclass(frozen=True, slots=True)
class ExtractedText:
    """What an extractor read from a document."""

    title: str | None
    blocks: tuple[Block, ...]
    notes: tuple[str, ...] = ()  # what was left out and why, in sentences


@dataclass(frozen=True, slots=True)
class Chunk:
    """A passage-sized piece of a document; ``ordinal`` counts from 0 within its generation."""

    ordinal: int
    text: str
    title: str | None = None
    headings: tuple[str, ...] = ()
    page: int | None = None  # where it begins

    @property
    def embedding_text(self) -> str:
        """The text that is embedded: where a passage stands tells as much as what it says. A heading that the text
        begins with is not said twice."""
        first_line = self.text.partition("\n")[0]
        parts = dict.fromkeys(part for part in (self.title, *self.headings) if part and part != first_line)
        context = " > ".join(parts)
        return f"{context}\n{self.text}" if context else self.text

    @property
    def sentences(self) -> list[str]:
        """Those that get vectors of their own: the first ones, where there are very many."""
        return split_sentences(self.text)[:_MAX_SENTENCES]


@dataclass(frozen=True, slots=True)
class Hit:
    """A dense match in the vector index; ``score`` is the cosine similarity, -1..1."""

    ref: ChunkRef
    score: float


@dataclass(frozen=True, slots=True)
class Candidate:
    """A chunk of an active generation that dense or lexical search brought up, with its text."""

    ref: ChunkRef
    path: str
    text: str
    title: str | None
    headings: tuple[str, ...]
    page: int | None
    cosine: float | None = None  # None: dense search did not return it
    lexical_rank: int | None = None  # 1-based; None: lexical search did not return it
    lexical_coverage: float = 0.0  # share of the query's terms, 0..1, that the chunk holds
    sentence_cosines: tuple[float, ...] = ()  # of ``Chunk.sentences`` with the query, in order; empty: not known

    @property
    def filename(self) -> str:
        return self.path.rsplit("/", 1)[-1]


@dataclass(frozen=True, slots=True)
class Passage:
    """A candidate that is relevant enough to answer from."""

    candidate: Candidate
    relevance: float  # calibrated probability that it helps to answer, 0..1


@dataclass(frozen=True, slots=True)
class Retrieval:
    """What retrieval found. ``passages`` are in the order of their rank, best first."""

    passages: tuple[Passage, ...]
    best_relevance: float  # of all candidates, also when none passed the threshold; 0 if there were none
    candidates: int  # that were ranked
    question: str = ""  # what was searched for
    documents: int = 0  # that the candidates are from
    nearest: Passage | None = None  # the most relevant candidate, also when it did not pass the threshold
    threshold: float = 0.0  # what a passage's relevance had to reach
    degraded: Mapping[str, str] = field(default_factory=dict[str, str])  # the missing half of the search → why
