"""A question is searched for; once more in the documents' language, if it found nothing in its own."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from botforge.domain.answer import Usage
from botforge.domain.bot import Bot
from botforge.domain.chunk import Retrieval
from botforge.domain.deadline import Deadline
from botforge.domain.errors import ChatModelUnavailable
from botforge.domain.language import in_another_language, in_one_language
from botforge.domain.prompting import TRANSLATE, question_with_excerpt
from botforge.domain.query import Query
from botforge.ports.chat import ChatModel, Message
from botforge.services.dialogue import Resolved
from botforge.services.retrieval import Retriever
from botforge.services.stages import Stages

_TRANSLATION_SHARE = 0.3  # of the time that is left: the second search and the answer need the rest
_MAX_TRANSLATED = 1_000  # characters


@dataclass(frozen=True, slots=True)
class Searched:
    """What was searched for, and what that found. ``degraded``: the missing part → why."""

    text: str
    retrieval: Retrieval
    usage: Usage = Usage()
    degraded: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True)
class QuestionSearch:
    """A question in another language than the documents' finds nothing with a model that knows one language.

    So an LLM is asked for a translation only then, and only if the question is not plainly in the language of the
    nearest passage: most questions that find nothing have no answer in any language (docs/retrieval.md has the
    figures). A conversation's rewriting brings its translation along; no request asks an LLM for both.
    """

    retriever: Retriever
    chat: ChatModel | None

    def search(self, query: Query, resolved: Resolved, bot: Bot, deadline: Deadline, stages: Stages) -> Searched:
        """Search for the resolved text, and for its translation if that found nothing; the better of the two.

        Raises DatabaseUnavailable.
        """
        first = self._retrieve(query, resolved.text, bot, deadline, stages)
        if first.passages or first.nearest is None:
            return Searched(resolved.text, first)
        excerpt = first.nearest.candidate.text
        if in_one_language(resolved.text, excerpt):
            return Searched(resolved.text, first)
        translation, usage = resolved.translation, Usage()
        if not resolved.llm_asked:
            if self.chat is None:
                known = in_another_language(resolved.text, excerpt)
                return Searched(resolved.text, first, degraded={"translation": "llm_not_configured"} if known else {})
            try:
                with stages.measure("translate"):
                    translation, usage = _translated(self.chat, resolved.text, excerpt, query.model, deadline)
            except ChatModelUnavailable as error:
                return Searched(resolved.text, first, degraded={"translation": error.code})
            if translation is None:
                return Searched(resolved.text, first, usage, {"translation": "llm_invalid_response"})
        if translation is None or translation.casefold() == resolved.text.casefold():
            return Searched(resolved.text, first, usage)
        second = self._retrieve(query, translation, bot, deadline, stages)
        if second.best_relevance > first.best_relevance:
            return Searched(translation, second, usage)
        return Searched(resolved.text, first, usage)

    def _retrieve(self, query: Query, text: str, bot: Bot, deadline: Deadline, stages: Stages) -> Retrieval:
        return self.retriever.retrieve(
            query.user_id,
            query.bot_id,
            text,
            max_chunks=query.max_chunks or bot.max_chunks,
            threshold=bot.similarity_threshold if query.similarity_threshold is None else query.similarity_threshold,
            document_ids=query.document_ids,
            deadline=deadline,
            stages=stages,
        )


def _translated(
    chat: ChatModel, text: str, excerpt: str, model: str | None, deadline: Deadline
) -> tuple[str | None, Usage]:
    """The translation (None: the reply is none), and what it cost. Raises ChatModelUnavailable."""
    messages = (Message("system", TRANSLATE), Message("user", question_with_excerpt(text, excerpt)))
    limited = deadline.less(deadline.remaining() * (1 - _TRANSLATION_SHARE))
    completion = chat.complete(messages, model=model, deadline=limited)
    translation = " ".join(completion.text.split())
    sound = translation and not completion.truncated and len(translation) <= max(_MAX_TRANSLATED, 3 * len(text))
    return (translation if sound else None), completion.usage
