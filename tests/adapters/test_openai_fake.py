"""The stand-in for OpenAI is as strict as the service: what it refuses here would be refused there."""

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from botforge_dev.fakes.openai_server import API_KEY, OpenAIServer, openai_server, tool_calls

MESSAGES = [{"role": "user", "content": "Hello?"}]
CALL = {"id": "call_1", "type": "function", "function": {"name": "add", "arguments": "{}"}}


@pytest.fixture(scope="module")
def server() -> Iterator[OpenAIServer]:
    with openai_server() as running:
        yield running


def post(server: OpenAIServer, body: object, *, key: str = API_KEY) -> httpx.Response:
    return httpx.post(f"{server.url}/chat/completions", json=body, headers={"Authorization": f"Bearer {key}"})


def request(**changes: object) -> dict[str, Any]:
    return {"model": "gpt-4o-mini", "messages": MESSAGES, **changes}


def tool(
    name: str = "add", *, type_: str = "object", properties: object = (), description: str = "Adds.", defs: object = ()
) -> dict[str, object]:
    schema = {"type": type_, "properties": dict[str, object]() if properties == () else properties, "$defs": defs}
    return {"type": "function", "function": {"name": name, "description": description, "parameters": schema}}


def called(*calls: dict[str, Any], answers: tuple[str, ...] = ()) -> list[dict[str, Any]]:
    """A conversation in which the assistant has asked for calls, and some were answered."""
    asked: dict[str, Any] = {"role": "assistant", "content": None, "tool_calls": list(calls)}
    return [*MESSAGES, asked, *({"role": "tool", "tool_call_id": each, "content": "7"} for each in answers)]


@pytest.mark.parametrize(
    "body",
    [
        request(),
        request(temperature=0, max_completion_tokens=5, seed=1),
        request(tools=[tool(), tool("other")], tool_choice={"type": "function", "function": {"name": "add"}}),
        request(messages=[{"role": "user", "content": [{"type": "text", "text": "Hello?"}]}]),
        request(messages=called(CALL, {**CALL, "id": "call_2"}, answers=("call_2", "call_1"))),
        request(tools=[tool(description="x" * 1_024, properties={"a": {"type": ["string", "null"]}})]),
        request(tools=[tool(properties={"a": {"$ref": "#/$defs/b"}}, defs={"b": {"type": "array", "items": True}})]),
        request(
            messages=[
                *MESSAGES,
                {"role": "assistant", "content": None, "tool_calls": [CALL]},
                {"role": "tool", "tool_call_id": "call_1", "content": "7"},
            ],
            tools=[tool()],
        ),
    ],
)
def test_what_the_service_takes_is_answered(server: OpenAIServer, body: dict[str, object]) -> None:
    response = post(server, body)

    assert response.status_code == 200
    assert response.json()["choices"][0]["message"]["content"] == "Hello."


@pytest.mark.parametrize(
    "body",
    [
        [],
        {"messages": MESSAGES},
        {"model": "gpt-4o-mini"},
        request(messages=[]),
        request(messages="Hello?"),
        request(messages=["Hello?"]),
        request(messages=[{"role": "robot", "content": "Hello?"}]),
        request(messages=[{"role": "user", "content": None}]),
        request(messages=[{"role": "user", "content": 7}]),
        request(messages=[{"role": "user", "content": ["Hello?"]}]),
        request(messages=[{"role": "tool", "tool_call_id": "call_1", "content": "7"}]),
        request(messages=[{"role": "assistant", "content": None, "tool_calls": [CALL]}, *MESSAGES]),
        request(messages=[{"role": "assistant", "content": None, "tool_calls": [CALL]}]),
        request(messages=[{"role": "user", "content": "Hello?", "tool_calls": [CALL]}]),
        request(temperature=3),
        request(temperature="0"),
        request(n=0),
        request(max_tokens=1.5),
        request(top_k=5),
        request(tools=[]),
        request(tools=[tool("add numbers")]),
        request(tools=[tool("x" * 65)]),
        request(tools=[tool(), tool()]),
        request(tools=[tool(type_="array")]),
        request(tools=[tool(properties="none")]),
        request(tools=[tool(f"tool_{number}") for number in range(129)]),
        request(tools=[tool(description="x" * 1_025)]),
        request(tools=[tool(properties={"a": {"$ref": "https://example.com/schema.json"}})]),
        request(tools=[tool(properties={"a": {"$ref": "#/$defs/missing"}})]),
        request(tools=[tool(properties={"a": {"type": "float"}})]),
        request(tools=[tool(properties={"a": {"type": "array"}})]),
        request(tools=[tool(properties={"a": "a number"})]),
        request(tools=[tool(properties={"a": {"anyOf": [{"type": "date"}]}})]),
        request(messages=called(CALL, {**CALL, "id": "call_2"}, answers=("call_1",))),
        request(messages=called(CALL, CALL, answers=("call_1",))),
        request(messages=called({**CALL, "id": ""}, answers=("",))),
        request(messages=called(CALL, answers=("call_1", "call_1"))),
        request(messages=called({**CALL, "function": {"name": "add", "arguments": {}}}, answers=("call_1",))),
        request(messages=called({**CALL, "function": {"name": "no name", "arguments": "{}"}}, answers=("call_1",))),
        request(tools=[{"function": {"name": "add"}}]),
        request(tool_choice="auto"),
        request(tools=[tool()], tool_choice="always"),
        request(tools=[tool()], tool_choice={"type": "function", "function": {"name": "other"}}),
    ],
)
def test_what_the_service_refuses_is_a_400_in_its_shape(server: OpenAIServer, body: object) -> None:
    before = len(server.requests)

    response = post(server, body)

    assert response.status_code == 400
    assert response.json()["error"].keys() == {"message", "type", "param", "code"}
    assert len(server.requests) == before


def test_a_wrong_key_and_an_unknown_model_have_their_own_status(server: OpenAIServer) -> None:
    assert post(server, request(), key="wrong").status_code == 401
    assert httpx.get(f"{server.url}/models").status_code == 401
    assert post(server, request(model="gpt-99")).json()["error"]["code"] == "model_not_found"
    assert post(server, request(model="gpt-99")).status_code == 404


def test_models_are_listed(server: OpenAIServer) -> None:
    listed = httpx.get(f"{server.url}/models", headers={"Authorization": f"Bearer {API_KEY}"}).json()

    assert {model["id"] for model in listed["data"]} == {"gpt-4o-mini", "gpt-4o"}


def test_a_body_that_is_no_json_is_refused(server: OpenAIServer) -> None:
    headers = {"Authorization": f"Bearer {API_KEY}", "Content-Type": "application/json"}

    assert httpx.post(f"{server.url}/chat/completions", content=b"{", headers=headers).status_code == 400


def test_scripted_calls_come_in_the_services_shape(server: OpenAIServer) -> None:
    server.answer(tool_calls(("add", {"a": 1}), ("add", "{broken"), content="Let me see."))

    choice = post(server, request(tools=[tool()])).json()["choices"][0]

    assert choice["finish_reason"] == "tool_calls"
    assert choice["message"]["content"] == "Let me see."
    calls = choice["message"]["tool_calls"]
    assert [call["function"]["arguments"] for call in calls] == ['{"a": 1}', "{broken"]
    assert len({call["id"] for call in calls}) == 2
