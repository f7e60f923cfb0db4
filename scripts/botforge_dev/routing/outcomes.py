"""How right the router was, and whether it knew."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from botforge.domain.query import Intent
from botforge.domain.routing import BAND, Routing
from botforge_dev.evaluation.metrics import mean

COVERAGE = 0.9
_BINS = 10


@dataclass(frozen=True, slots=True)
class Message:
    text: str
    acts: bool
    source: str
    hard: bool
    tools: tuple[str, ...]  # keys


@dataclass(frozen=True, slots=True)
class Outcome:
    message: Message
    routing: Routing

    @property
    def right(self) -> bool:
        return (self.routing.intent is Intent.EXECUTION) == self.message.acts


def figures(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    hard = [outcome for outcome in outcomes if outcome.message.hard]
    return {
        "messages": len(outcomes),
        "accuracy": mean(float(outcome.right) for outcome in outcomes),
        "accuracy_hard": mean(float(outcome.right) for outcome in hard) if hard else None,
        "accuracy_at_90": accuracy_at(outcomes, COVERAGE),
        "ece": calibration_error(outcomes),
        "uncertain": mean(float(BAND.holds(outcome.routing.p_execution)) for outcome in outcomes),
    }


def accuracy_at(outcomes: Sequence[Outcome], coverage: float) -> float:
    """Of the most confident share."""
    ordered = sorted(outcomes, key=lambda outcome: -outcome.routing.confidence)
    return mean(float(outcome.right) for outcome in ordered[: max(1, int(coverage * len(ordered)))])


def calibration_error(outcomes: Sequence[Outcome]) -> float:
    """Expected calibration error of the probability of an action, ten bins of equal width (Naeini et al., 2015)."""
    error = 0.0
    for each in range(_BINS):
        inside = [one for one in outcomes if min(_BINS - 1, int(one.routing.p_execution * _BINS)) == each]
        if inside:
            said = sum(one.routing.p_execution for one in inside)
            error += abs(said - sum(one.message.acts for one in inside)) / len(outcomes)
    return round(error, 4)
