"""What goes to a tool and what comes back: fit to be sent and stored, bounded, and cut where everyone sees it."""

from botforge.adapters.tools.json_values import Json, NotJson, compact, storable
from botforge.domain.errors import Delivery, ToolServerError
from botforge.domain.tool import ToolResult
from botforge.ports.tools import ToolCall

MAX_RESULT_BYTES = 256 * 1024


def sendable_arguments(call: ToolCall) -> dict[str, Json]:
    """Raises ToolServerError for arguments that JSON cannot carry."""
    try:
        return storable(dict(call.arguments))
    except NotJson:
        message = "The arguments cannot be sent as JSON."
        raise ToolServerError(message, delivery=Delivery.NOT_SENT) from None


def result_of(text: str, content: Json, *, is_error: bool) -> ToolResult:
    """``content`` as it is while it fits; where it does not, the text's beginning stands for both."""
    if _size(text) <= MAX_RESULT_BYTES and _size(compact(content)) <= MAX_RESULT_BYTES:
        return ToolResult(text, content, is_error)
    cut = _cut(text)
    return ToolResult(cut, cut, is_error, truncated=True)


def _cut(text: str) -> str:
    size = _size(text)
    if size <= MAX_RESULT_BYTES:
        return text
    note = f"\n[cut: this is the beginning of {size:,} bytes]"
    return text.encode()[: MAX_RESULT_BYTES - len(note)].decode(errors="ignore") + note


def _size(text: str) -> int:
    return len(text.encode())
