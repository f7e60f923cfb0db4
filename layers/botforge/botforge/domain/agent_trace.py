"""The trace of an agent's work, and the two accounts that are made from it: the reasoning, and the answer's last lines.

A model can claim anything. So its text never stands alone: what was executed, what failed and what nobody knows is
said after it, from the trace, in lines that the model cannot write (its own lines that look like them are taken out).
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from botforge.domain.execution import ExecutionStatus
from botforge.domain.json_values import canonical
from botforge.domain.tool_use import ToolUse

_MAX_REASONING = 4_000  # characters
_MAX_DETAIL = 200  # characters of an error or of arguments in a line
_OUR_LINES = re.compile(
    r"^[^\w\n]*(?:nothing was executed|executed|from an earlier result|failed|outcome unknown|not at hand)\b[^\n]*$\n?",
    re.IGNORECASE | re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class Refusal:
    """A request of the model's that was not carried out."""

    name: str  # the tool, as the model spelt it
    why: str  # a sentence


@dataclass(frozen=True, slots=True)
class LookUp:
    """A function of our own that the model used; it reads, and changes nothing."""

    name: str


Event = ToolUse | Refusal | LookUp


def tools_used(rounds: Iterable[Sequence[Event]]) -> tuple[ToolUse, ...]:
    return tuple(event for events in rounds for event in events if isinstance(event, ToolUse))


def reasoning(offered: Sequence[str], callable_tools: int, rounds: Sequence[Sequence[Event]], end: str) -> str:
    """What was done, step by step; ``end`` is how it ended, in a sentence."""
    names = ", ".join(offered)
    lines = [f"Offered {len(offered)} of {callable_tools} callable tools: {names}." if offered else "No tool to offer."]
    for number, events in enumerate(rounds, start=1):
        lines.append(f"Round {number}: {'; '.join(map(_told, events))}.")
    text = "\n".join([*lines, end])
    return text if len(text) <= _MAX_REASONING else f"{text[:_MAX_REASONING]}…"


def with_evidence(text: str, uses: Sequence[ToolUse], withheld: Sequence[str]) -> str:
    """The model's text, followed by what was really done."""
    return "\n\n".join(part for part in (without_evidence(text), "\n".join(_evidence(uses, withheld))) if part)


def without_evidence(text: str) -> str:
    """What the model said itself."""
    return _OUR_LINES.sub("", text).strip()


def _evidence(uses: Sequence[ToolUse], withheld: Sequence[str]) -> list[str]:
    executed = [use for use in uses if use.succeeded and not use.cached]
    cached = [use for use in uses if use.cached]
    done = {_identity(use) for use in uses if use.succeeded}
    failed = [use for use in uses if use.status is ExecutionStatus.FAILED and _identity(use) not in done]
    unknown = [use for use in uses if use.status is ExecutionStatus.UNKNOWN]
    lines: list[str] = []
    if executed:
        lines.append(f"Executed: {_listed(executed)}.")
    elif not unknown:
        lines.append("Nothing was executed." if uses else "Nothing was executed: no tool was called.")
    else:
        lines.append("Nothing was executed for certain.")
    if cached:
        lines.append(f"From an earlier result: {_listed(cached)}.")
    lines += [f"Failed: {_name(use)}: {_short(use.error_message or 'no reason was given')}" for use in failed]
    if unknown:
        lines.append(
            f"Outcome unknown: {_listed(unknown)}. It may or may not have happened: check before you repeat it."
        )
    if withheld:
        servers = ", ".join(_short(name) for name in withheld)
        lines.append(f"Not at hand: the tools of {servers}, which did not answer when last checked.")
    return lines


def _told(event: Event) -> str:
    if isinstance(event, Refusal):
        return f"a call to {_short(event.name)} was not made: {event.why.rstrip('.')}"
    if isinstance(event, LookUp):
        return f"looked into {event.name}"
    how = "was served from an earlier result" if event.cached else event.status.value
    attempts = f", {event.attempts} attempts" if event.attempts > 1 else ""
    reason = "" if event.succeeded or not event.error_code else f" ({event.error_code})"
    arguments = _short(canonical(event.arguments))
    return f"{_name(event)} {arguments} {how}{reason} in {event.duration_ms:.0f} ms{attempts}"


def _listed(uses: Sequence[ToolUse]) -> str:
    counted = Counter(_name(use) for use in uses)
    return ", ".join(name if number == 1 else f"{number} × {name}" for name, number in counted.items())


def _name(use: ToolUse) -> str:
    return f"{_short(use.tool_name)} ({_short(use.server_name)})"


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _MAX_DETAIL else f"{line[: _MAX_DETAIL - 1]}…"


def _identity(use: ToolUse) -> tuple[object, ...]:
    return use.server_id, use.tool_name, canonical(use.arguments)
