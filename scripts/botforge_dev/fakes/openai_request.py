"""What the Chat Completions API accepts: types, bounds and names (OpenAI API reference, "Create chat completion")."""

import json
import re
from typing import Any

Json = dict[str, Any]

_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_MAX_TOOLS = 128
_NUMBERS = {"temperature": (0, 2), "top_p": (0, 1), "presence_penalty": (-2, 2), "frequency_penalty": (-2, 2)}
_COUNTS = {"n": (1, 128), "max_tokens": (1, None), "max_completion_tokens": (1, None), "seed": (None, None)}
_OTHERS = """
    audio function_call functions logit_bias logprobs metadata modalities parallel_tool_calls prediction
    prompt_cache_key prompt_cache_retention reasoning_effort response_format safety_identifier service_tier stop
    store stream_options top_logprobs user verbosity web_search_options
"""
_FIELDS = frozenset({"model", "messages", "stream", "tools", "tool_choice", *_NUMBERS, *_COUNTS, *_OTHERS.split()})


class BadRequest(Exception):
    def __init__(self, message: str, *, param: str | None = None, code: str | None = None, status: int = 400) -> None:
        super().__init__(message)
        self.param = param
        self.code = code
        self.status = status


def checked_request(raw: bytes, content_type: str, models: frozenset[str]) -> Json:
    """The request's body. Raises BadRequest as the service would answer."""
    if content_type.partition(";")[0].strip() != "application/json":
        raise BadRequest("Unsupported content type. This API expects 'application/json'.")
    try:
        body = json.loads(raw)
    except ValueError:
        raise BadRequest("We could not parse the JSON body of your request.") from None
    if not isinstance(body, dict):
        raise BadRequest("We expected an object as the JSON body of your request.")
    request: Json = body  # pyright: ignore[reportUnknownVariableType] - JSON
    for name in request:
        if name not in _FIELDS:
            raise BadRequest(f"Unrecognized request argument supplied: {name}", code="unknown_parameter", param=name)
    _check_model(request.get("model"), models)
    if request.get("stream"):
        raise BadRequest("This stand-in does not stream.", param="stream")
    _check_numbers(request)
    names = _check_tools(request.get("tools"))
    _check_tool_choice(request, names)
    _check_messages(request.get("messages"))
    return request


def _check_model(model: object, models: frozenset[str]) -> None:
    if not isinstance(model, str) or not model:
        raise BadRequest("you must provide a model parameter", param="model")
    if model not in models:
        message = f"The model `{model}` does not exist or you do not have access to it."
        raise BadRequest(message, code="model_not_found", status=404)


def _check_numbers(request: Json) -> None:
    for name, (low, high) in {**_NUMBERS, **_COUNTS}.items():
        value = request.get(name)
        if value is None:
            continue
        kinds = (int,) if name in _COUNTS else (int, float)
        if isinstance(value, bool) or not isinstance(value, kinds):
            raise BadRequest(f"Invalid type for '{name}': expected a number.", param=name, code="invalid_type")
        if (low is not None and value < low) or (high is not None and value > high):
            raise BadRequest(f"Invalid '{name}': {value} is out of range.", param=name, code="invalid_value")


def _check_tools(tools: object) -> frozenset[str]:
    if tools is None:
        return frozenset()
    if not isinstance(tools, list) or not 1 <= len(tools) <= _MAX_TOOLS:  # pyright: ignore[reportUnknownArgumentType]
        raise BadRequest(f"Invalid 'tools': 1 to {_MAX_TOOLS} tools.", param="tools", code="invalid_value")
    names: list[str] = []
    for place, tool in enumerate(tools):  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
        where = f"tools[{place}]"
        function: Any = tool.get("function") if isinstance(tool, dict) else None  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
        if not isinstance(function, dict) or tool.get("type") != "function":  # pyright: ignore[reportUnknownMemberType]
            raise BadRequest(f"Missing required parameter: '{where}.function'.", param=where, code="missing_required")
        names.append(_check_function(function, where))  # pyright: ignore[reportUnknownArgumentType]
    if len(set(names)) < len(names):
        raise BadRequest("Tool names must be unique.", param="tools", code="invalid_value")
    return frozenset(names)


def _check_function(function: Json, where: str) -> str:
    name = function.get("name")
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        message = f"Invalid '{where}.function.name': string does not match pattern '^[a-zA-Z0-9_-]+$'."
        raise BadRequest(message, param=f"{where}.function.name", code="invalid_value")
    schema: Any = function.get("parameters", {"type": "object"})
    if not isinstance(schema, dict) or schema.get("type") != "object":  # pyright: ignore[reportUnknownMemberType]
        message = f"Invalid schema for function '{name}': schema must be a JSON Schema of 'type: \"object\"'."
        raise BadRequest(message, param=f"{where}.function.parameters", code="invalid_function_parameters")
    if not isinstance(schema.get("properties", {}), dict):  # pyright: ignore[reportUnknownMemberType]
        message = f"Invalid schema for function '{name}': 'properties' is not an object."
        raise BadRequest(message, param=f"{where}.function.parameters", code="invalid_function_parameters")
    return name


def _check_tool_choice(request: Json, names: frozenset[str]) -> None:
    choice: Any = request.get("tool_choice")
    if choice is None:
        return
    if not names:
        raise BadRequest("'tool_choice' is only allowed when 'tools' are specified.", param="tool_choice")
    if isinstance(choice, str):
        known = choice in {"none", "auto", "required"}
    else:
        known = isinstance(choice, dict) and choice.get("function", {}).get("name") in names  # pyright: ignore[reportUnknownMemberType]
    if not known:
        raise BadRequest("Invalid value for 'tool_choice'.", param="tool_choice", code="invalid_value")


def _check_messages(messages: object) -> None:
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
    for call in calls:
        function: Any = call.get("function", {})
        if call.get("type") != "function" or not _NAME.fullmatch(str(function.get("name", ""))):
            raise BadRequest("Invalid tool call.", param=f"{where}.tool_calls")
        if not isinstance(function.get("arguments"), str):
            raise BadRequest("Arguments of a tool call are a string.", param=f"{where}.tool_calls", code="invalid_type")
    return {str(call.get("id", "")) for call in calls}


def _check_content(content: object, where: str) -> None:
    if isinstance(content, str):
        return
    parts: list[Any] = content if isinstance(content, list) else []  # pyright: ignore[reportUnknownVariableType]
    if not parts or not all(isinstance(part, dict) and "type" in part for part in parts):
        message = f"Invalid value for 'content' of '{where}': expected a string or an array of parts."
        raise BadRequest(message, param=f"{where}.content", code="invalid_type")
