"""The result of MCP's ``tools/call`` as ours. Pure: no SDK."""

from collections.abc import Mapping

from botforge.adapters.tools.json_values import Json, as_list, as_object, compact
from botforge.adapters.tools.results import result_of
from botforge.domain.tool import ToolResult


class AsksForInput(Exception):
    """The result is a question to the user (2026-07-28, ``input_required``), though we declared to answer none."""


def read_result(answer: Mapping[str, Json]) -> ToolResult:
    """Raises ValueError for what is no result, AsksForInput."""
    kind = answer.get("resultType", "complete")
    if kind == "input_required":
        raise AsksForInput
    blocks = as_list(answer.get("content"))
    if kind != "complete" or (blocks is None and "structuredContent" not in answer):
        raise ValueError("no result of tools/call")
    words = "\n".join(_words(block) for block in blocks or ())
    content: Json = answer.get("structuredContent", words)
    if not words and "structuredContent" in answer:
        words = compact(content)
    return result_of(words, content, is_error=answer.get("isError") is True)


def _words(block: object) -> str:
    """A content block as the LLM reads it; what is no text is named."""
    part = as_object(block) or {}
    kind: Json = part.get("type")
    if kind == "text" and isinstance(words := part.get("text"), str):
        return words
    if kind == "resource":
        resource = as_object(part.get("resource")) or {}
        if isinstance(words := resource.get("text"), str):
            return words
        return f"[a resource, not shown: {_short(resource.get('uri'))}]"
    if kind == "resource_link":
        return f"[a link: {_short(part.get('uri'))}]"
    if kind in ("image", "audio"):
        return f"[{kind}, not shown: {_short(part.get('mimeType'))}]"
    return "[content of an unknown kind, not shown]"


def _short(value: object) -> str:
    return value[:500] if isinstance(value, str) else "without a name"
