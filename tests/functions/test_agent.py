"""A message that tools answer: the real handler, PostgreSQL, a tool server on loopback, and the real OpenAI SDK."""

import json
from collections.abc import Generator
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest
from tests.fakes.tool_servers import RESET, SERVER_ERROR, ToolServer, tool_server
from tests.functions.conftest import Api, Reply

from botforge.adapters.embedding.onnx import OnnxEmbedder
from botforge.adapters.postgres.database import Database
from botforge.adapters.postgres.executions import PostgresExecutions
from botforge.adapters.postgres.tool_servers import PostgresToolServers
from botforge.adapters.tools.by_protocol import ByProtocolTransport
from botforge.domain.deadline import Deadline
from botforge.domain.execution import Execution
from botforge.domain.ids import BotId, UserId
from botforge.domain.tool import Effect, ServerHealth, ServerStatus, ToolPolicy, ToolProtocol
from botforge.domain.tool_text import tool_text
from botforge.ports.tools import Endpoint
from botforge_dev.fakes import openai_server as llms
from botforge_dev.fakes.openai_server import API_KEY, OpenAIServer, openai_server, tool_calls

ADD = ("add", {"a": 2, "b": 3})


@pytest.fixture
def tools() -> Generator[ToolServer]:
    with tool_server() as server:
        yield server


@pytest.fixture
def llm(monkeypatch: pytest.MonkeyPatch) -> Generator[OpenAIServer]:
    with openai_server() as server:
        monkeypatch.setenv("OPENAI_API_KEY", API_KEY)
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("OPENAI_MODEL", "gpt-4o-mini")
        yield server


class Acting:
    """A bot with a registered tool server, and the messages to it."""

    def __init__(self, api: Api, tenant: Database, embedder: OnnxEmbedder) -> None:
        self.api = api
        self.tenant = tenant
        self.embedder = embedder
        self.bot = api.create_bot()

    def register(self, url: str, name: str = "Desk", **fields: Any) -> None:  # noqa: ANN401 - fields of the server
        from tests.fakes import tool_records

        bot = tool_records.a_bot(UserId(self.api.user))
        endpoint = Endpoint(url, ToolProtocol.REST, None)
        found = ByProtocolTransport(allow_loopback=True).discover(endpoint, deadline=Deadline.after(30))
        server = tool_records.a_server(
            bot, name, bot_id=BotId(UUID(self.bot)), endpoint_url=url, protocol=ToolProtocol.REST, **fields
        )
        tools = [tool_records.a_tool(server, definition=definition) for definition in found.tools]
        vectors = [embedded.vector for embedded in self.embedder.embed([tool_text(tool.definition) for tool in tools])]
        PostgresToolServers(self.tenant).create(server, tools, vectors)

    def ask(self, query: str = "Add 2 and 3.", **fields: Any) -> Reply:  # noqa: ANN401 - fields of the body
        body = {"user_id": str(self.api.user), "bot_id": self.bot, "client_id": "test", "query": query, **fields}
        return self.api.call("POST", "/vector/mcp-query", json_body=body)

    def executions(self) -> list[Execution]:
        page = PostgresExecutions(self.tenant).list(
            UserId(self.api.user),
            BotId(UUID(self.bot)),
            status=None,
            tool_name=None,
            since=None,
            until=None,
            limit=100,
            cursor=None,
        )
        return list(page.items)


@pytest.fixture(scope="module")
def embedder(model_dir: Path) -> OnnxEmbedder:
    return OnnxEmbedder(model_dir)


@pytest.fixture
def acting(
    api: Api, tenant: Database, tools: ToolServer, embedder: OnnxEmbedder, monkeypatch: pytest.MonkeyPatch
) -> Acting:
    monkeypatch.setenv("EGRESS_ALLOW_LOOPBACK", "true")
    acting = Acting(api, tenant, embedder)
    acting.register(tools.url)
    return acting


def test_a_tool_is_called_and_the_reply_shows_its_execution(
    acting: Acting, tools: ToolServer, llm: OpenAIServer
) -> None:
    llm.answer(tool_calls(ADD), llms.Reply("The sum is 5."))

    reply = acting.ask()

    assert reply.status == 200, reply.body
    answered = reply.json
    assert answered["response"] == "The sum is 5.\n\nExecuted: add (Desk)."
    assert (answered["intent"], answered["processing_type"]) == ("execution", "mcp_agent_execution")
    (used,) = answered["mcp_tools_used"]
    (row,) = acting.executions()
    assert used["execution_id"] == str(row.id)
    assert (used["server"], used["tool"], used["arguments"], used["status"], used["cached"]) == (
        "Desk",
        "add",
        {"a": 2, "b": 3},
        "succeeded",
        False,
    )
    assert (row.status, row.output_result, row.query_id is not None) == ("succeeded", {"sum": 5}, True)
    assert used["duration_ms"] > 0
    assert "Round 1: add (Desk)" in answered["agent_reasoning"]
    assert [effect.parameters for effect in tools.effects] == [{"a": 2, "b": 3}]
    stats = acting.api.call("GET", f"/vector/stats/{acting.api.user}/{acting.bot}").json
    assert stats["by_intent"] == {"execution": 1}


def test_a_claim_without_a_call_is_answered_with_what_was_not_done(
    acting: Acting, tools: ToolServer, llm: OpenAIServer
) -> None:
    llm.answer(llms.Reply("I have paid 500 dollars to Ann."))

    answered = acting.ask("Pay Ann 500 dollars.").json

    assert answered["response"].endswith("Nothing was executed: no tool was called.")
    assert (answered["mcp_tools_used"], tools.effects, acting.executions()) == ([], [], [])


def test_what_the_server_did_not_answer_is_unknown_in_the_row_and_in_the_reply(
    acting: Acting, tools: ToolServer, llm: OpenAIServer
) -> None:
    tools.fail(RESET, acted=True)
    llm.answer(tool_calls(("pay", {"amount": 500})), llms.Reply("I have paid."))

    answered = acting.ask("Pay 500.").json

    assert answered["mcp_tools_used"][0]["status"] == "unknown"
    assert "Outcome unknown: pay (Desk)" in answered["response"]
    assert acting.executions()[0].status == "unknown"
    assert len(tools.effects) == 1


def test_arguments_that_do_not_fit_are_mended_by_the_model(
    acting: Acting, tools: ToolServer, llm: OpenAIServer
) -> None:
    llm.answer(tool_calls(("add", {"a": "two"})), tool_calls(ADD), llms.Reply("5."))

    answered = acting.ask().json

    told = llm.requests[1]["messages"][-1]["content"]
    assert "b" in told
    assert "'two' is not of type 'number'" in told
    assert len(tools.effects) == 1
    assert answered["rounds"] == 2


def test_a_repeatable_tool_survives_a_fault_with_one_effect(api: Api, acting: Acting, llm: OpenAIServer) -> None:
    with tool_server() as other:
        acting.register(other.url, "Other", policies={"*": ToolPolicy(Effect.IDEMPOTENT)})
        other.fail(SERVER_ERROR, acted=True)
        llm.answer(tool_calls(("Other_pay", {"amount": 5})), llms.Reply("Paid."))

        used = acting.ask("Pay 5.").json["mcp_tools_used"]

    assert [(use["server"], use["status"], use["attempts"]) for use in used] == [("Other", "succeeded", 2)]
    assert len(other.effects) == 1
    assert api.user


def test_a_server_whose_circuit_is_open_is_not_offered_and_named(acting: Acting, llm: OpenAIServer) -> None:
    with tool_server() as other:
        acting.register(other.url, "Bank", health=ServerHealth(ServerStatus.OPEN))
        llm.answer(llms.Reply("Hm."))

        answered = acting.ask().json

    assert answered["tools_withheld"] == ["Bank"]
    assert "the tools of Bank" in answered["response"]
    assert len(llm.requests[0]["tools"]) == 4


def test_a_server_that_no_setting_allows_is_refused_at_the_call(
    acting: Acting, tools: ToolServer, llm: OpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("EGRESS_ALLOW_LOOPBACK")
    llm.answer(tool_calls(ADD), llms.Reply("Oh."))
    before = len(tools.requests)

    answered = acting.ask().json

    assert answered["mcp_tools_used"][0]["error_code"] == "endpoint_refused"
    assert answered["mcp_tools_used"][0]["status"] == "failed"
    assert len(tools.requests) == before


def test_another_tenants_bot_is_unknown_and_a_foreign_user_as_well(acting: Acting, llm: OpenAIServer) -> None:
    other = UUID(int=7)
    body = {"user_id": str(other), "bot_id": acting.bot, "client_id": "test", "query": "Add."}
    assert acting.api.call("POST", "/vector/mcp-query", json_body=body, user=other).status == 404
    assert acting.api.call("POST", "/vector/mcp-query", json_body=body).status == 404
    assert llm.requests == []


def test_without_an_llm_in_the_cloud_it_is_a_503_that_says_what_to_do(
    acting: Acting, tools: ToolServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("EGRESS_ALLOW_LOOPBACK")
    before = len(tools.requests)

    reply = acting.ask()

    assert (reply.status, reply.json["code"]) == (503, "llm_not_configured")
    assert "POST /vector/query" in reply.json["next_step"]
    assert reply.headers["content-type"] == "application/problem+json"
    assert len(tools.requests) == before


def test_without_an_llm_a_development_stack_calls_the_nearest_tool_once_and_says_so(
    acting: Acting, tools: ToolServer
) -> None:
    answered = acting.ask("Add the numbers 2 and 3").json

    assert answered["degraded_reasons"] == {"llm": "llm_not_configured"}
    assert answered["response"] == "add: 5\n\nExecuted: add (Desk)."
    assert len(tools.effects) == 1
    assert answered["model"] is None


def test_nothing_of_a_call_is_in_the_log(acting: Acting, llm: OpenAIServer, logged: Any) -> None:  # noqa: ANN401 - a stream
    llm.answer(tool_calls(("echo", {"text": "marzipan"})), llms.Reply("Said."))

    acting.ask("Say something.")

    lines = [json.loads(line) for line in logged.getvalue().splitlines() if line.startswith("{")]
    assert any(line.get("message") == "tool" and line["status"] == "succeeded" for line in lines)
    assert "marzipan" not in logged.getvalue()


def test_a_follow_up_acts_on_what_was_said_before_it(acting: Acting, tools: ToolServer, llm: OpenAIServer) -> None:
    conversation = str(uuid4())
    llm.answer(tool_calls(ADD), llms.Reply("The sum is 5."))
    assert acting.ask("Add 2 and 3.", conversation_id=conversation).status == 200
    llm.answer(llms.Reply("Add 2 and 3 again."), tool_calls(ADD), llms.Reply("The sum is 5."))
    assert acting.ask("And again.", conversation_id=conversation).status == 200
    assert "And again." in llm.requests[-3]["messages"][1]["content"]
    assert "Add 2 and 3 again." in str(llm.requests[-2]["messages"])
    assert len(tools.effects) == 2
