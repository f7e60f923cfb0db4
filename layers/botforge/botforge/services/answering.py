"""From relevant passages to an answer whose every citation can be checked."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from botforge.domain.answer import Answer, Source
from botforge.domain.chunk import Passage, Retrieval
from botforge.domain.citations import check_citations
from botforge.domain.deadline import Deadline
from botforge.domain.errors import ChatModelUnavailable
from botforge.domain.prompting import SYSTEM, question_with_passages
from botforge.ports.chat import ChatModel, Message
from botforge.services.extractive import ExtractiveAnswerer

NOTHING_RELEVANT = "I found nothing in this bot's documents that answers the question."
NO_DOCUMENTS = "This bot has no documents that answer the question yet: nothing has been indexed."

_FALLBACK_RESERVE_S = 2.0  # kept for the extractive answer when the LLM runs into the deadline


@dataclass(frozen=True, slots=True)
class Answerer:
    chat: ChatModel | None  # None: no LLM is configured
    extractive: ExtractiveAnswerer

    def answer(self, question: str, retrieval: Retrieval, *, model: str | None, deadline: Deadline) -> Answer:
        """An LLM's answer; the best-supported sentences if there is no LLM or it fails; or an honest nothing."""
        if not retrieval.passages:
            text = NOTHING_RELEVANT if retrieval.candidates else NO_DOCUMENTS
            return Answer(text, (), abstained=True, degraded=retrieval.degraded)
        sources = _numbered(retrieval.passages)
        if self.chat is None:
            return self._extract(question, sources, {**retrieval.degraded, "llm": "llm_not_configured"})
        messages = (Message("system", SYSTEM), Message("user", question_with_passages(question, sources)))
        try:
            completion = self.chat.complete(messages, model=model, deadline=deadline.less(_FALLBACK_RESERVE_S))
        except ChatModelUnavailable as error:
            return self._extract(question, sources, {**retrieval.degraded, "llm": error.code})
        checked = check_citations(completion.text, sources)
        return Answer(
            text=checked.text,
            sources=tuple(sources),
            model=completion.model,
            usage=completion.usage,
            removed_markers=checked.removed,
            degraded=retrieval.degraded,
        )

    def _extract(self, question: str, sources: Sequence[Source], degraded: Mapping[str, str]) -> Answer:
        text = self.extractive.compose(question, sources)
        return Answer(text=text, sources=tuple(sources), degraded=degraded)


def _numbered(passages: Sequence[Passage]) -> list[Source]:
    return [Source(number, passage) for number, passage in enumerate(passages, start=1)]
