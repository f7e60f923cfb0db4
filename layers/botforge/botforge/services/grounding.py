"""Whether what an answer says stands in what it cites."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from botforge.domain.answer import Source
from botforge.domain.claims import NEARLY_QUOTED, Claim, claims, contradicted, nearest_by_words, overlap
from botforge.domain.errors import EmbeddingUnavailable
from botforge.domain.language import in_another_language
from botforge.domain.sentences import split_sentences
from botforge.ports.embedding import Embedder, Vector

# A claim is supported if the cosine with the nearest sentence plus this much of its word overlap with the passages
# reaches the least support (docs/retrieval.md has the figures; both were chosen on the pairs that it counts).
_OVERLAP_WEIGHT = 0.75
_LEAST_SUPPORT = 0.8
_READ_SENTENCES = 3  # embedded a claim: those that share most words with it
_MAX_CLAIMS = 20


@dataclass(frozen=True, slots=True)
class Grounding:
    grounded: bool | None  # None: nothing was stated, or nothing could be compared
    unsupported: tuple[str, ...] = ()
    degraded: Mapping[str, str] = field(default_factory=dict[str, str])  # "grounding" → why it was not checked


@dataclass(frozen=True, slots=True)
class GroundingCheck:
    embedder: Embedder

    def check(self, text: str, sources: Sequence[Source]) -> Grounding:
        """Compare each statement of ``text`` with the sources that it names.

        One that names none is compared with all that the text names, or with all there are if it names none. Numbers,
        names and negations are compared as they stand, the rest by words and by meaning. Without the embedding model,
        words alone decide. An answer in another language than everything it names is not compared at all: nearly
        every true sentence of it would be called unsupported.
        """
        made = claims(text)[:_MAX_CLAIMS]
        if not made:
            return Grounding(None)
        known = {source.number: source for source in sources}
        named = {number for claim in made for number in claim.cites if number in known} or set(known)
        if all(in_another_language(text, known[number].passage.candidate.text) for number in named):
            return Grounding(None, degraded={"grounding": "another_language"})
        passages = [self._cited(claim, known, named) for claim in made]
        vectors = self._embedded(made, passages)
        unsupported = [
            claim.text
            for claim, passage in zip(made, passages, strict=True)
            if not _supported(claim.text, passage, vectors)
        ]
        return Grounding(not unsupported, tuple(unsupported))

    def _cited(self, claim: Claim, known: Mapping[int, Source], named: set[int]) -> Sequence[str]:
        """The sentences of what the claim rests on, with the headings that they stand under."""
        chosen = [number for number in claim.cites if number in known] or sorted(named)
        sentences: list[str] = []
        for number in chosen:
            candidate = known[number].passage.candidate
            sentences += [part for part in (candidate.title, *candidate.headings) if part]
            sentences += split_sentences(candidate.text)
        return sentences

    def _embedded(self, made: Sequence[Claim], passages: Sequence[Sequence[str]]) -> Mapping[str, Vector]:
        """Vectors of the claims that words alone do not settle, and of the sentences nearest to them."""
        texts: dict[str, None] = {}
        for claim, passage in zip(made, passages, strict=True):
            near = nearest_by_words(claim.text, passage, _READ_SENTENCES)
            if near and overlap(claim.text, near[0]) < NEARLY_QUOTED:
                texts |= dict.fromkeys([claim.text, *near])
        if not texts:
            return {}
        try:
            embedded = self.embedder.embed(list(texts))
        except EmbeddingUnavailable:
            return {}
        return {text: embedding.vector for text, embedding in zip(texts, embedded, strict=True)}


def _supported(claim: str, passage: Sequence[str], vectors: Mapping[str, Vector]) -> bool:
    near = nearest_by_words(claim, passage, _READ_SENTENCES)
    whole = "\n".join(passage)
    if not near or contradicted(claim, whole, near[0]):
        return False
    if overlap(claim, near[0]) >= NEARLY_QUOTED:
        return True
    asked = vectors.get(claim)
    meaning = max((_cosine(asked, vectors[one]) for one in near), default=0.0) if asked is not None else 0.0
    return meaning + _OVERLAP_WEIGHT * overlap(claim, whole) >= _LEAST_SUPPORT


def _cosine(left: Vector, right: Vector) -> float:
    return sum(a * b for a, b in zip(left, right, strict=True))
