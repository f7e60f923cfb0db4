"""What the Chat Completions API accepts of messages: roles, contents, and tool calls with their results."""

from typing import Any

from botforge_dev.fakes.openai_errors import BadRequest, Json
from botforge_dev.fakes.openai_tools import NAME


def check_messages(messages: object) -> None:
    if not isinstance(messages, list):
        raise BadRequest("Missing required parameter: 'messages'.", param="messages", code="missing_required_parameter")
    if not messages:
        raise BadRequest("Invalid 'messages': empty array.", param="messages", code="empty_array")
    open_calls: set[str] = set()
    for place, message in enumerate(messages):  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
        where = f"messages[{place}]"
        if not isinstance(message, dict):
            raise BadRequest(f"Invalid type for '{where}': expected an object.", param=where, code="invalid_type")
        open_calls = _check_message(message, where, open_calls)  # pyright: ignore[reportUnknownArgumentType]
    if open_calls:
        raise BadRequest("An assistant message with 'tool_calls' must be followed by tool messages.", param="messages")


def _check_message(message: Json, where: str, open_calls: set[str]) -> set[str]:
    """Returns the tool calls that wait for their result after this message."""
    role = message.get("role")
    if role == "tool":
        if message.get("tool_call_id") not in open_calls:
            raise BadRequest("A message with role 'tool' must follow its call in 'tool_calls'.", param=f"{where}.role")
        _check_content(message.get("content"), where)
        return open_calls - {message["tool_call_id"]}
    if open_calls:
        raise BadRequest("An assistant message with 'tool_calls' must be followed by tool messages.", param=where)
    if role not in {"developer", "system", "user", "assistant"}:
        raise BadRequest(f"Invalid value: {role!r}.", param=f"{where}.role", code="invalid_value")
    calls: list[Json] = message.get("tool_calls") or []
    if calls and role != "assistant":
        raise BadRequest("Only an assistant calls tools.", param=f"{where}.tool_calls")
    if not calls or message.get("content") is not None:
        _check_content(message.get("content"), where)
    return _checked_calls(calls, where)


def _checked_calls(calls: list[Json], where: str) -> set[str]:
    """The ids of an assistant's calls."""
    for call in calls:
        function: Any = call.get("function", {})
        if call.get("type") != "function" or not NAME.fullmatch(str(function.get("name", ""))):
            raise BadRequest("Invalid tool call.", param=f"{where}.tool_calls")
        if not isinstance(function.get("arguments"), str):
            raise BadRequest("Arguments of a tool call are a string.", param=f"{where}.tool_calls", code="invalid_type")
    ids = {str(call.get("id") or "") for call in calls}
    if len(ids) < len(calls) or "" in ids:
        raise BadRequest("Tool calls have ids of their own.", param=f"{where}.tool_calls", code="invalid_value")
    return ids


def _check_content(content: object, where: str) -> None:
    if isinstance(content, str):
        return
    parts: list[Any] = content if isinstance(content, list) else []  # pyright: ignore[reportUnknownVariableType]
    if not parts or not all(isinstance(part, dict) and "type" in part for part in parts):
        message = f"Invalid value for 'content' of '{where}': expected a string or an array of parts."
        raise BadRequest(message, param=f"{where}.content", code="invalid_type")
