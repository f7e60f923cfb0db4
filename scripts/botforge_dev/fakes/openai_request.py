"""What the Chat Completions API accepts: types, bounds and names (OpenAI API reference, "Create chat completion")."""

import json
from typing import Any

from botforge_dev.fakes.openai_errors import BadRequest, Json
from botforge_dev.fakes.openai_messages import check_messages
from botforge_dev.fakes.openai_tools import check_tools

_NUMBERS = {"temperature": (0, 2), "top_p": (0, 1), "presence_penalty": (-2, 2), "frequency_penalty": (-2, 2)}
_COUNTS = {"n": (1, 128), "max_tokens": (1, None), "max_completion_tokens": (1, None), "seed": (None, None)}
_OTHERS = """
    audio function_call functions logit_bias logprobs metadata modalities parallel_tool_calls prediction
    prompt_cache_key prompt_cache_retention reasoning_effort response_format safety_identifier service_tier stop
    store stream_options top_logprobs user verbosity web_search_options
"""
_FIELDS = frozenset({"model", "messages", "stream", "tools", "tool_choice", *_NUMBERS, *_COUNTS, *_OTHERS.split()})


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
    names = check_tools(request.get("tools"))
    _check_tool_choice(request, names)
    check_messages(request.get("messages"))
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
