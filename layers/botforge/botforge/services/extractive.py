"""An answer without an LLM: the sentences that stand nearest to the question, word for word, with their citations."""

from collections.abc import Sequence
from dataclasses import dataclass

from botforge.domain.answer import Source
from botforge.domain.citations import check_citations
from botforge.domain.errors import EmbeddingUnavailable
from botforge.domain.sentences import split_sentences
from botforge.domain.terms import shared_terms
from botforge.ports.embedding import Embedder, Vector

_READ_SOURCES = 3  # the best of them: every further one costs embedding time and seldom holds the answer
_SENTENCES = 3
_MAX_SENTENCES_READ = 48
_WORTH_SAYING = 0.6  # of the best sentence's similarity
_HEADING_WORDS = 8
_TERMINAL = frozenset(".!…:。！｡")


@dataclass(frozen=True, slots=True)
class _Sentence:
    source: Source
    text: str
    cosine: float | None  # with what was searched for; None: not known

    @property
    def states_something(self) -> bool:
        """Headings and questions stand nearest to a question of all, and answer none."""
        ends = self.text.rstrip("\"'”’»)]")[-1:]
        return ends != "?" and (ends in _TERMINAL or len(self.text.split()) > _HEADING_WORDS)


@dataclass(frozen=True, slots=True)
class ExtractiveAnswerer:
    embedder: Embedder

    def compose(self, question: str, sources: Sequence[Source], *, searched: str) -> tuple[str, list[Source]]:
        """At most three sentences of the best sources, best first, each followed by its marker; and those sources.

        What retrieval knows of the sentences is used if it ``searched`` for the very question.
        """
        every = [sentence for source in sources[:_READ_SOURCES] for sentence in _sentences(source)]
        sentences = _statements(every)[:_MAX_SENTENCES_READ]
        known = [sentence.cosine for sentence in sentences if sentence.cosine is not None]
        if question == searched and len(known) == len(sentences):
            scores = known
        else:
            scores = self._scores(question, [sentence.text for sentence in sentences])
        ranked = sorted(zip(scores, sentences, strict=True), key=lambda pair: -pair[0])
        best = ranked[0][0]
        chosen = [sentence for score, sentence in ranked[:_SENTENCES] if score >= _WORTH_SAYING * best]
        cited = {sentence.source.number: sentence.source for sentence in chosen}
        text = " ".join(f"{_unmarked(sentence.text)} [{sentence.source.number}]" for sentence in chosen)
        return text, [cited[number] for number in sorted(cited)]

    def _scores(self, question: str, sentences: Sequence[str]) -> list[float]:
        try:
            embedded = self.embedder.embed([question, *sentences])
        except EmbeddingUnavailable:
            return [float(shared_terms(question, sentence)) for sentence in sentences]
        asked = embedded[0].vector
        return [_cosine(asked, sentence.vector) for sentence in embedded[1:]]


def _sentences(source: Source) -> list[_Sentence]:
    candidate = source.passage.candidate
    texts = split_sentences(candidate.text)
    # The first ones alone have vectors in a long list of very short ones (Chunk.sentences).
    cosines = [*candidate.sentence_cosines, *[None] * (len(texts) - len(candidate.sentence_cosines))]
    return [_Sentence(source, text, cosine) for text, cosine in zip(texts, cosines, strict=False)]


def _unmarked(text: str) -> str:
    """References of a document's own, such as [12], would read as markers of ours."""
    return check_citations(text, ()).text


def _statements(sentences: Sequence[_Sentence]) -> Sequence[_Sentence]:
    return [sentence for sentence in sentences if sentence.states_something] or sentences


def _cosine(left: Vector, right: Vector) -> float:
    return sum(a * b for a, b in zip(left, right, strict=True))
