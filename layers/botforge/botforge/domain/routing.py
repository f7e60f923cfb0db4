"""What a message needs: knowledge from the bot's documents, or an action of its tools.

The evidence is joined into one calibrated probability by a trained head (``ports.routing.RoutingModel``); this module
holds what is decided from it, which no training changes: a bot without tools never executes, small talk needs neither,
and what an owner has taught the bot by example weighs more the nearer the example is.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from botforge.domain.query import Intent
from botforge.domain.small_talk import SmallTalk

MAX_TOOLS = 10  # of the bot's tools nearest to the message; the head looks at no more
MAX_EXAMPLES = 8  # of the bot's routing examples nearest to the message

_FAR = 0.6  # cosine below which an example says nothing
_EXAMPLE_LOGIT = 12.0  # of one example that is the message itself: decides against any head
_PASSAGE_LOGIT = 3.0  # of a passage that surely answers, against an action (docs/routing.md has the figures)
_UNKNOWN = 0.5  # where no head can say
_CERTAIN = 1e-6  # probabilities stay this far from 0 and 1, so that examples can move them


@dataclass(frozen=True, slots=True)
class UncertainBand:
    """Probabilities between which nobody is sure; chosen from data, see ``docs/routing.md``."""

    low: float
    high: float

    def holds(self, p_execution: float) -> bool:
        return self.low < p_execution < self.high


BAND = UncertainBand(low=0.2, high=0.8)


class DecidedBy(StrEnum):
    NO_TOOLS = "no_tools"  # nothing could be executed
    NO_EMBEDDING = "no_embedding"  # the embedding model failed: without it no tool is found, words still find passages
    SMALL_TALK = "small_talk"
    ROUTER = "router"
    UNTRAINED = "untrained"  # the head was not trained on this embedding model's vectors, so nothing is sure
    EXAMPLES = "examples"  # the bot's routing examples turned the head's decision
    AGENT = "agent"  # the router was unsure; the agent had the tools and the documents to choose from


@dataclass(frozen=True, slots=True)
class ToolEvidence:
    """A tool of the bot beside the message."""

    name: str
    description: str
    cosine: float
    vector: Sequence[float] = field(default=(), repr=False)  # its embedding; the head compares more than the cosine


@dataclass(frozen=True, slots=True)
class ExampleEvidence:
    """One of the bot's routing examples beside the message."""

    intent: Intent
    cosine: float


@dataclass(frozen=True, slots=True)
class Routing:
    """A decision and why. ``p_execution`` is calibrated: of 100 messages with 0.9, some 90 need an action."""

    p_execution: float
    decided_by: DecidedBy
    best_tool: str | None = None  # the nearest to the message; None: the bot has none that can be called
    best_tool_similarity: float | None = None  # cosine
    best_passage: float | None = None  # relevance, 0..1; None: no passage was looked for
    small_talk: SmallTalk | None = None

    @property
    def intent(self) -> Intent:
        return Intent.EXECUTION if self.p_execution > 0.5 else Intent.INFORMATION_RETRIEVAL

    @property
    def confidence(self) -> float:
        """How probable it is that ``intent`` is right."""
        return max(self.p_execution, 1 - self.p_execution)

    def is_uncertain(self, band: UncertainBand = BAND) -> bool:
        decided = self.decided_by in {DecidedBy.ROUTER, DecidedBy.UNTRAINED, DecidedBy.EXAMPLES}
        return decided and band.holds(self.p_execution)


def decide(
    p_execution: float | None,
    *,
    tools: Sequence[ToolEvidence],
    best_passage: float | None = None,
    examples: Sequence[ExampleEvidence] = (),
) -> Routing:
    """Join what the head says with the evidence of the bot's documents and with its examples.

    ``p_execution``: None if the head cannot say. ``tools``: best first; without any, nothing is executed.
    """
    if not tools:
        return Routing(0.0, DecidedBy.NO_TOOLS, best_passage=best_passage)
    said = _UNKNOWN if p_execution is None else p_execution
    evident = said if best_passage is None else with_passage(said, best_passage)
    joined = with_examples(evident, examples)
    turned = (joined > 0.5) != (evident > 0.5)
    return Routing(
        p_execution=joined,
        decided_by=DecidedBy.EXAMPLES if turned else DecidedBy.UNTRAINED if p_execution is None else DecidedBy.ROUTER,
        best_tool=tools[0].name,
        best_tool_similarity=tools[0].cosine,
        best_passage=best_passage,
    )


def may_turn_on_a_passage(p_execution: float, band: UncertainBand = BAND) -> bool:
    """Whether any passage could change what is decided: only then are the documents worth a search beforehand."""
    return band.low < p_execution and with_passage(p_execution, 1.0) < band.high


def with_passage(p_execution: float, best_passage: float) -> float:
    """Move the log odds by the relevance of the bot's best passage: a document that answers speaks for a question.

    That none answers speaks for nothing: questions without an answer are questions still.
    """
    return _moved(p_execution, -_PASSAGE_LOGIT * best_passage)


def with_examples(p_execution: float, examples: Sequence[ExampleEvidence]) -> float:
    """Move the log odds by every example, by the cube of its nearness: a paraphrase counts, a shared topic does not.

    Only the nearest example of each intent counts, so that ten examples of one sentence weigh no more than one.
    """
    nearest = {
        intent: max((example.cosine for example in examples if example.intent is intent), default=0.0)
        for intent in Intent
    }
    shift = _weight(nearest[Intent.EXECUTION]) - _weight(nearest[Intent.INFORMATION_RETRIEVAL])
    return _moved(p_execution, shift)


def _moved(probability: float, shift: float) -> float:
    bounded = min(max(probability, _CERTAIN), 1 - _CERTAIN)
    return 1 / (1 + math.exp(-(math.log(bounded / (1 - bounded)) + shift)))


def _weight(cosine: float) -> float:
    return _EXAMPLE_LOGIT * max(0.0, (min(cosine, 1.0) - _FAR) / (1 - _FAR)) ** 3
