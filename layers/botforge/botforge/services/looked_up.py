"""What an agent's answer makes of the passages that it looked up: held to the same rules as any other answer."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from botforge.domain.agent import AgentAnswer
from botforge.domain.agent_trace import without_evidence
from botforge.domain.answer import Source
from botforge.domain.citations import check_citations
from botforge.services.document_search import DocumentSearch
from botforge.services.grounding import GroundingCheck


@dataclass(frozen=True, slots=True)
class LookedUp:
    """As in ``domain.answer.Answer``; ``searched`` are the agent's questions to the documents."""

    searched: tuple[str, ...] = ()
    sources: tuple[Source, ...] = ()
    retrieved: tuple[Source, ...] = ()
    grounded: bool | None = None
    unsupported: tuple[str, ...] = ()
    removed_markers: int = 0
    degraded: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(slots=True)
class AnswerCheck:
    """Given an agent's answer, takes markers that name no passage out of it; ``looked_up`` is what it then rests on.

    Statements are compared with passages only if no tool was called: a tool's result is no passage.
    """

    search: DocumentSearch
    grounding: GroundingCheck
    looked_up: LookedUp = LookedUp()

    def checked(self, answer: AgentAnswer) -> AgentAnswer:
        found: Sequence[Source] = tuple(self.search.found)
        if not found:
            self.looked_up = LookedUp(tuple(self.search.asked))
            return answer
        marked = check_citations(answer.text, found)
        looked_up = LookedUp(
            searched=tuple(self.search.asked),
            sources=marked.cited,
            retrieved=tuple(source for source in found if source not in marked.cited),
            removed_markers=marked.removed,
        )
        if not answer.tools_used:
            grounding = self.grounding.check(without_evidence(marked.text), found)
            looked_up = replace(
                looked_up,
                grounded=grounding.grounded,
                unsupported=grounding.unsupported,
                degraded=grounding.degraded,
            )
        self.looked_up = looked_up
        return replace(answer, text=marked.text)
