"""What a Chat Completions server answers, read with distrust: any JSON, or none, may come back.

OpenAI's API reference names the fields; compatible servers leave out ``usage``, send ``content: null`` and add fields.
"""

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, Field, ValidationError

from botforge.domain.answer import Usage
from botforge.ports.chat import Completion, ToolRequest

_MAX_TOKENS = 2**31 - 1  # what an integer column holds
_REFUSALS = frozenset({"content_filter", "content_policy_violation"})  # codes of a 400 (Azure OpenAI, OpenAI)
_EXHAUSTED = frozenset({"insufficient_quota", "billing_hard_limit_reached"})  # a 429 that no waiting cures


@dataclass(frozen=True, slots=True)
class Failure:
    """``code`` is one of ChatModelUnavailable's; ``retry_after`` is in seconds, as the provider asks."""

    code: Literal["llm_timeout", "llm_rate_limited", "llm_error", "llm_refused", "llm_invalid_response"]
    message: str
    retryable: bool = False
    retry_after: float | None = None


def _tokens(value: object) -> int:
    counted = isinstance(value, int) and 0 <= value <= _MAX_TOKENS
    return value if counted else 0  # pyright: ignore[reportReturnType] - narrowed above


def _mapping(value: object) -> object:
    return value if isinstance(value, dict) else {}  # pyright: ignore[reportUnknownVariableType]


_Tokens = Annotated[int, BeforeValidator(_tokens)]


class _Usage(BaseModel):
    prompt_tokens: _Tokens = 0
    completion_tokens: _Tokens = 0


class _Function(BaseModel):
    name: str
    arguments: str = ""


class _ToolCall(BaseModel):
    id: str = Field(min_length=1)
    function: _Function


class _Message(BaseModel):
    content: str | None = None
    refusal: str | None = None
    tool_calls: list[_ToolCall] | None = None


class _Choice(BaseModel):
    message: _Message
    finish_reason: str | None = None


class _Completion(BaseModel):
    choices: list[_Choice] = Field(min_length=1)
    model: str | None = None
    usage: Annotated[_Usage, BeforeValidator(_mapping)] = _Usage()


def read_completion(body: bytes, *, asked: str) -> Completion | Failure:
    """The first choice of a 2xx body; ``asked`` names the model where the server does not."""
    try:
        parsed = _Completion.model_validate_json(body)
    except ValidationError:
        return Failure("llm_invalid_response", "The LLM's answer is not a chat completion.", retryable=True)
    choice = parsed.choices[0]
    if choice.finish_reason == "content_filter" or choice.message.refusal:
        return Failure("llm_refused", "The LLM refused to answer.")
    text = (choice.message.content or "").replace("\0", "").strip()
    requests = tuple(
        ToolRequest(call.id, call.function.name, call.function.arguments) for call in choice.message.tool_calls or ()
    )
    if not text and not requests:
        return Failure("llm_invalid_response", "The LLM's answer is empty.", retryable=True)
    return Completion(
        text=text,
        model=parsed.model or asked,
        usage=Usage(parsed.usage.prompt_tokens, parsed.usage.completion_tokens),
        truncated=choice.finish_reason == "length",
        tool_requests=requests,
    )


def read_error(status: int, code: str | None, headers: Mapping[str, str]) -> Failure:
    """A response that is no 2xx. ``code`` is the error's own; only known ones are believed, none is repeated."""
    message = f"The LLM's provider answered with HTTP {status}."
    if status in (401, 403):
        return Failure("llm_refused", message)
    if status < 500 and code in _REFUSALS:
        return Failure("llm_refused", "The LLM's provider refused the content.")
    if status == 429:
        if code in _EXHAUSTED:
            return Failure("llm_rate_limited", "The quota at the LLM's provider is used up.")
        return Failure("llm_rate_limited", message, retryable=True, retry_after=_retry_after(headers))
    if status in (408, 409) or status >= 500:
        return Failure("llm_error", message, retryable=True, retry_after=_retry_after(headers))
    return Failure("llm_error", message)


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds from now: ``Retry-After-Ms``, else ``Retry-After`` in seconds or as a date (RFC 9110, section 10.2.3)."""
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        try:
            seconds = float(headers.get(name, "")) * unit
        except ValueError:
            continue
        return max(0.0, seconds) if not math.isnan(seconds) else None
    try:
        return max(0.0, parsedate_to_datetime(headers.get("retry-after", "")).timestamp() - time.time())
    except (ValueError, OverflowError):
        return None
