"""``search_documents``: the bot's documents as one more function that the agent may call."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from botforge.domain.answer import Source
from botforge.domain.bot import Bot
from botforge.domain.chunk import Passage
from botforge.domain.deadline import Deadline
from botforge.domain.errors import BotForgeError
from botforge.domain.query import Query
from botforge.domain.tool import JsonObject
from botforge.ports.chat import ToolOffer
from botforge.services.retrieval import Retriever
from botforge.services.stages import Stages
from botforge.services.tool_calls import BuiltIn

NAME = "search_documents"
NOTHING_RELEVANT = "The bot's documents hold nothing relevant to that question."

_MAX_QUESTION = 1_000  # characters
_OUR_TAGS = re.compile(r"<(?=\s*/?\s*(?:passage|tool_result|tool_description))", re.IGNORECASE)
_OFFER = ToolOffer(
    name=NAME,
    description=(
        "Search the documents of this bot for passages that answer a question. Use it when the message asks for "
        "knowledge and not for an action. Cite the passages that you use by their numbers, like [1]."
    ),
    parameters={
        "type": "object",
        "properties": {"question": {"type": "string", "minLength": 1, "maxLength": _MAX_QUESTION}},
        "required": ["question"],
        "additionalProperties": False,
    },
)


@dataclass(slots=True)
class DocumentSearch:
    """The searches of one message; ``found`` numbers every passage that the model has seen, ``asked`` says for what."""

    retriever: Retriever
    query: Query
    bot: Bot
    deadline: Deadline
    stages: Stages
    found: list[Source] = field(default_factory=list[Source])
    asked: list[str] = field(default_factory=list[str])

    def built_in(self) -> BuiltIn:
        return BuiltIn(_OFFER, self._run)

    def _run(self, arguments: JsonObject) -> str:
        question = str(arguments["question"])[:_MAX_QUESTION]
        self.asked.append(question)
        try:
            retrieval = self.retriever.retrieve(
                self.query.user_id,
                self.query.bot_id,
                question,
                max_chunks=self.query.max_chunks or self.bot.max_chunks,
                threshold=self._threshold(),
                document_ids=self.query.document_ids,
                deadline=self.deadline,
                stages=self.stages,
            )
        except BotForgeError as error:
            return f"The documents could not be searched ({error.code})."
        return "\n".join(map(_quoted, self._numbered(retrieval.passages))) or NOTHING_RELEVANT

    def _threshold(self) -> float:
        asked = self.query.similarity_threshold
        return self.bot.similarity_threshold if asked is None else asked

    def _numbered(self, passages: Sequence[Passage]) -> list[Source]:
        """The passages as sources; one that was found before keeps its number."""
        known = {source.passage.candidate.ref: source for source in self.found}
        sources: list[Source] = []
        for passage in passages:
            source = known.get(passage.candidate.ref) or Source(len(self.found) + 1, passage)
            if source.number > len(self.found):
                self.found.append(source)
            sources.append(source)
        return sources


def _quoted(source: Source) -> str:
    candidate = source.passage.candidate
    name = candidate.filename.replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;")
    return f'<passage number="{source.number}" file="{name}">\n{_OUR_TAGS.sub("&lt;", candidate.text)}\n</passage>'
