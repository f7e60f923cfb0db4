"""From relevant passages to an answer whose every citation can be checked."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from botforge.domain.answer import Answer, Source
from botforge.domain.chunk import Passage, Retrieval
from botforge.domain.citations import check_citations
from botforge.domain.deadline import Deadline
from botforge.domain.errors import ChatModelUnavailable
from botforge.domain.prompting import NOT_FOUND, SYSTEM, question_with_passages, without_not_found
from botforge.ports.chat import ChatModel, Completion, Message
from botforge.services.extractive import ExtractiveAnswerer
from botforge.services.grounding import GroundingCheck

NOTHING_RELEVANT = "I found nothing in this bot's documents that answers the question."
NO_DOCUMENTS = "This bot has no documents that answer the question yet: nothing has been indexed."

_FALLBACK_RESERVE_S = 2.0  # kept for the extractive answer when the LLM runs into the deadline


@dataclass(frozen=True, slots=True)
class Answerer:
    chat: ChatModel | None  # None: no LLM is configured
    extractive: ExtractiveAnswerer
    grounding: GroundingCheck

    def answer(
        self, question: str, retrieval: Retrieval, *, quoted_for: str, model: str | None, deadline: Deadline
    ) -> Answer:
        """An LLM's answer; the best-supported sentences if there is no LLM or it fails; or an honest nothing.

        ``quoted_for``: the question by which sentences are chosen where no LLM writes; in the passages' language.
        """
        if not retrieval.passages:
            return Answer(searched_in_vain(retrieval), (), abstained=True, degraded=retrieval.degraded)
        sources = _numbered(retrieval.passages)
        if self.chat is None:
            return self._extract(quoted_for, retrieval, {**retrieval.degraded, "llm": "llm_not_configured"})
        messages = (Message("system", SYSTEM), Message("user", question_with_passages(question, sources)))
        try:
            completion = self.chat.complete(messages, model=model, deadline=deadline.less(_FALLBACK_RESERVE_S))
        except ChatModelUnavailable as error:
            return self._extract(quoted_for, retrieval, {**retrieval.degraded, "llm": error.code})
        return self._written(completion, sources, retrieval)

    def _written(self, completion: Completion, sources: Sequence[Source], retrieval: Retrieval) -> Answer:
        told = completion.text.strip()
        if told.startswith(NOT_FOUND):
            text = check_citations(without_not_found(told), ()).text or searched_in_vain(retrieval)
            return Answer(text, (), tuple(sources), abstained=True, model=completion.model, usage=completion.usage,
                          degraded=retrieval.degraded)  # fmt: skip
        checked = check_citations(completion.text, sources)
        grounding = self.grounding.check(checked.text, sources)
        return Answer(
            text=checked.text,
            sources=checked.cited,
            retrieved=_without(sources, checked.cited),
            grounded=grounding.grounded,
            unsupported=grounding.unsupported,
            model=completion.model,
            usage=completion.usage,
            removed_markers=checked.removed,
            degraded={**retrieval.degraded, **grounding.degraded},
        )

    def _extract(self, question: str, retrieval: Retrieval, degraded: Mapping[str, str]) -> Answer:
        sources = _numbered(retrieval.passages)
        text, cited = self.extractive.compose(question, sources, searched=retrieval.question)
        # Word for word from its sources, so there is nothing to check.
        return Answer(text, tuple(cited), _without(sources, cited), grounded=True, degraded=degraded)


def searched_in_vain(retrieval: Retrieval) -> str:
    """What was searched, and how near the best passage was."""
    nearest = retrieval.nearest
    if nearest is None:
        return NO_DOCUMENTS
    candidate = nearest.candidate
    place = (
        [f"page {candidate.page}"] if candidate.page is not None else [f"“{name}”" for name in candidate.headings[-1:]]
    )
    documents = "1 document" if retrieval.documents == 1 else f"{retrieval.documents} documents"
    passages = "1 passage" if retrieval.candidates == 1 else f"{retrieval.candidates} passages"
    return (
        f"{NOTHING_RELEVANT} Of the nearest {passages} in {documents}, the best is in {candidate.filename}"
        f"{', '.join(['', *place])}: its relevance is {nearest.relevance:.2f}, and"
        f" {retrieval.threshold:.2f} is asked for."
    )


def _numbered(passages: Sequence[Passage]) -> list[Source]:
    return [Source(number, passage) for number, passage in enumerate(passages, start=1)]


def _without(sources: Sequence[Source], cited: Sequence[Source]) -> tuple[Source, ...]:
    return tuple(source for source in sources if source not in cited)
