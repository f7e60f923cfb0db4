"""One endpoint for every message: the real handler, PostgreSQL, the trained router, a tool server, the OpenAI SDK."""

from collections.abc import Generator
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest
from tests.fakes import tool_records
from tests.fakes.tool_servers import ToolServer, tool_server
from tests.functions.conftest import Api, Reply

from botforge.adapters.embedding.onnx import OnnxEmbedder
from botforge.adapters.postgres.database import Database
from botforge.adapters.postgres.tool_servers import PostgresToolServers
from botforge.adapters.routing.head import RoutingHead
from botforge.domain.ids import BotId, UserId
from botforge.domain.routing import BAND, ToolEvidence
from botforge.domain.tool import Dialect, ToolDefinition, ToolProtocol
from botforge.domain.tool_text import tool_text
from botforge_dev.fakes import openai_server as llms
from botforge_dev.fakes.loopback import Respond
from botforge_dev.fakes.openai_server import API_KEY, OpenAIServer, openai_server, tool_calls

FAQ = b"Transfers abroad take two to four working days and cost five euros.\n\nA lost card must be blocked at once.\n"
NUMBERS = {"type": "object", "properties": {"a": {"type": "number"}, "b": {"type": "number"}}, "required": ["a", "b"]}
ADD = ToolDefinition("add", "Add two numbers", NUMBERS, digest="0")
ACT = "Please add 2 and 3."


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


@pytest.fixture(scope="module")
def embedder(model_dir: Path) -> OnnxEmbedder:
    return OnnxEmbedder(model_dir)


class Bot:
    """A bot with documents, and the messages to it."""

    def __init__(self, api: Api, tenant: Database, embedder: OnnxEmbedder) -> None:
        self.api, self.tenant, self.embedder = api, tenant, embedder
        self.id = api.create_bot()

    def document(self) -> None:
        assert self.api.upload(self.id, "faq.txt", FAQ).status == 202
        assert self.api.ingest(self.id, "faq.txt") == {"batchItemFailures": []}

    def tool(self, url: str, definition: ToolDefinition = ADD) -> None:
        server = tool_records.a_server(
            tool_records.a_bot(UserId(self.api.user)),
            "Desk",
            bot_id=BotId(UUID(self.id)),
            endpoint_url=url,
            protocol=ToolProtocol.REST,
            dialect=Dialect.REST,
        )
        tool = tool_records.a_tool(server, definition=definition)
        vector = self.embedder.embed([tool_text(definition)])[0].vector
        PostgresToolServers(self.tenant).create(server, [tool], [vector])

    def ask(self, query: str, user: UUID | None = None, **fields: Any) -> Reply:  # noqa: ANN401 - fields of the body
        body = {"user_id": str(user or self.api.user), "bot_id": self.id, "client_id": "test", "query": query, **fields}
        return self.api.call("POST", "/vector/query-dynamic", json_body=body, user=user)

    def teach(self, **examples: str) -> None:
        entries = [{"text": text, "intent": intent} for intent, text in examples.items()]
        path = f"/api/bots/{self.id}/routing-examples"
        assert self.api.call("POST", path, json_body={"examples": entries}).status == 201


@pytest.fixture
def bot(api: Api, tenant: Database, tools: ToolServer, embedder: OnnxEmbedder, monkeypatch: pytest.MonkeyPatch) -> Bot:
    monkeypatch.setenv("EGRESS_ALLOW_LOOPBACK", "true")
    made = Bot(api, tenant, embedder)
    made.tool(tools.url)
    return made


def test_a_question_is_answered_from_documents_and_says_why(bot: Bot) -> None:
    bot.document()
    answered = bot.ask("How long do transfers abroad take?").json
    assert (answered["intent"], answered["processing_type"]) == ("information_retrieval", "rag_information_retrieval")
    assert "two to four working days" in answered["response"]
    assert [source["filename"] for source in answered["sources"]] == ["faq.txt"]
    assert answered["mcp_tools_used"] == []
    assert answered["agent_reasoning"] is None
    routing = answered["routing"]
    assert (routing["decided_by"], routing["best_tool"]) == ("router", "add")
    assert routing["p_execution"] < 0.5
    assert answered["confidence"] == pytest.approx(1 - routing["p_execution"], abs=1e-3)
    assert routing["best_passage"] > 0.5
    assert answered["execution_time"] > 0


def test_a_command_is_carried_out_by_a_tool_and_shows_its_execution(
    bot: Bot, llm: OpenAIServer, tools: ToolServer
) -> None:
    llm.answer(tool_calls(("add", {"a": 2, "b": 3})), llms.Reply("The sum is 5."))
    acted = bot.ask(ACT).json
    assert (acted["intent"], acted["processing_type"]) == ("execution", "mcp_agent_execution")
    assert acted["response"].startswith("The sum is 5.")
    assert [(use["tool"], use["status"]) for use in acted["mcp_tools_used"]] == [("add", "succeeded")]
    assert acted["agent_reasoning"]
    assert acted["sources"] == []
    assert acted["routing"]["p_execution"] > 0.5
    assert [effect.tool_name for effect in tools.effects] == ["add"]


def test_a_bot_without_tools_never_executes(api: Api, tenant: Database, embedder: OnnxEmbedder) -> None:
    bot = Bot(api, tenant, embedder)
    bot.teach(execution=ACT)
    answered = bot.ask(ACT).json
    assert answered["intent"] == "information_retrieval"
    assert answered["routing"] == {
        "p_execution": 0.0,
        "best_tool": None,
        "best_tool_similarity": None,
        "best_passage": 0.0,
        "decided_by": "no_tools",
    }


def test_small_talk_gets_a_short_reply_without_retrieval_or_tools(bot: Bot, tools: ToolServer) -> None:
    replied = bot.ask("Hi there!").json
    assert replied["response"] == "Hello! What can I do for you?"
    assert replied["routing"]["decided_by"] == "small_talk"
    assert (replied["sources"], replied["mcp_tools_used"], replied["abstained"]) == ([], [], False)
    assert not {"index", "retrieve", "llm"} & replied["stage_ms"].keys()
    assert tools.effects == []
    total = bot.api.call("GET", f"/vector/stats/{bot.api.user}/{bot.id}?window_hours=1").json["total"]
    assert total == 1


def test_routing_examples_take_effect_at_once_and_are_forgotten_when_deleted(bot: Bot, llm: OpenAIServer) -> None:
    message = "What is the answer of the sphinx?"
    before = bot.ask(message).json
    assert before["intent"] == "information_retrieval"
    bot.teach(execution=message)
    llm.answer(llms.Reply("I would need two numbers."))
    after = bot.ask(message).json
    assert (after["intent"], after["routing"]["decided_by"]) == ("execution", "examples")
    path = f"/api/bots/{bot.id}/routing-examples"
    (example,) = bot.api.call("GET", path).json["items"]
    assert bot.api.call("DELETE", f"{path}/{example['id']}").status == 204
    assert bot.ask(message).json["routing"]["p_execution"] == before["routing"]["p_execution"]


def an_uncertain_message(embedder: OnnxEmbedder) -> str:
    """One of which the trained head is unsure, before a bot whose only tool adds numbers."""
    head, tool = RoutingHead(), embedder.embed([tool_text(ADD)])[0].vector
    candidates = [
        f"{beginning} {matter}{end}"
        for beginning in ("numbers:", "adding", "what about", "I need", "show me", "so, the sum of", "help with")
        for matter in ("two numbers", "the addition of numbers", "sums", "a number", "the total of it all")
        for end in ("", "?", " please", " for transfers abroad")
    ]
    for text in candidates:
        vector = embedder.embed([text])[0].vector
        cosine = sum(one * other for one, other in zip(vector, tool, strict=True))
        evidence = ToolEvidence(ADD.name, ADD.description, cosine, tool)
        if 0.4 < head.p_execution(text, vector, [evidence]) < 0.6:
            return text
    raise AssertionError("the head is sure of every candidate: write others")


def test_an_unsure_router_leaves_the_choice_to_the_agent_which_can_search_the_documents(
    bot: Bot, llm: OpenAIServer, embedder: OnnxEmbedder
) -> None:
    bot.document()
    question = {"question": "How long do transfers abroad take?"}
    llm.answer(tool_calls(("search_documents", question)), llms.Reply("Two to four working days [1]."))
    decided = bot.ask(an_uncertain_message(embedder)).json
    assert decided["routing"]["decided_by"] == "agent"
    assert BAND.low < decided["routing"]["p_execution"] < BAND.high
    assert (decided["intent"], decided["processing_type"]) == ("information_retrieval", "mcp_agent_execution")
    (source,) = decided["sources"]
    assert (source["filename"], source["number"]) == ("faq.txt", 1)
    assert source["link"].startswith("http")
    assert decided["searched"] == question["question"]
    assert (decided["grounded"], decided["unsupported"], decided["removed_citations"]) == (True, [], 0)
    assert {tool["function"]["name"] for tool in llm.requests[0]["tools"]} == {"add", "search_documents"}


def test_what_an_agent_says_of_documents_is_checked_like_any_other_answer(
    bot: Bot, llm: OpenAIServer, embedder: OnnxEmbedder
) -> None:
    bot.document()
    llm.answer(
        tool_calls(("search_documents", {"question": "How long do transfers abroad take?"})),
        llms.Reply("Transfers abroad take nine working days and cost 70 euros [1][8]."),
    )
    decided = bot.ask(an_uncertain_message(embedder)).json
    assert decided["response"].startswith("Transfers abroad take nine working days and cost 70 euros [1].")
    assert decided["removed_citations"] == 1
    assert decided["grounded"] is False
    assert decided["unsupported"] == ["Transfers abroad take nine working days and cost 70 euros."]


def test_an_answer_from_documents_carries_what_vector_query_says(bot: Bot, llm: OpenAIServer) -> None:
    bot.document()
    question = "How long do transfers abroad take?"
    llm.answer(llms.Reply("Transfers abroad take 9 working days [1], says nobody [7]."))
    answered = bot.ask(question).json
    assert (answered["searched"], answered["grounded"], answered["removed_citations"]) == (question, False, 1)
    assert len(answered["unsupported"]) == 1
    assert answered["search"]["nearest"] == "faq.txt"
    (source,) = answered["sources"]
    assert {"filename", "page", "headings", "text", "score", "link"} <= source.keys()
    assert source["link_expires_in"] > 0
    assert answered["retrieved"] == []


def test_a_follow_up_is_routed_as_what_it_means_in_its_conversation(
    bot: Bot, llm: OpenAIServer, tools: ToolServer
) -> None:
    bot.document()
    conversation = str(uuid4())
    llm.answer(llms.Reply("Two to four working days [1]."))
    bot.ask("How long do transfers abroad take?", conversation_id=conversation)
    llm.answer(llms.Reply(ACT), tool_calls(("add", {"a": 2, "b": 3})), llms.Reply("The sum is 5."))
    acted = bot.ask("What about the two and the three?", conversation_id=conversation).json
    assert (acted["intent"], acted["query"]) == ("execution", "What about the two and the three?")
    assert [effect.tool_name for effect in tools.effects] == ["add"]
    assert [request["messages"][-1]["content"] for request in llm.requests[-2:-1]] == [ACT]
    assert len(llm.requests) == 4, "the message was rewritten once, not again by the path that was taken"


def test_a_follow_up_keeps_its_one_rewriting_when_the_agent_fails(bot: Bot, llm: OpenAIServer) -> None:
    bot.document()
    conversation = str(uuid4())
    llm.answer(llms.Reply("Two to four working days [1]."))
    bot.ask("How long do transfers abroad take?", conversation_id=conversation)
    llm.answer(llms.Reply(ACT), Respond(401, {}))
    fallen_back = bot.ask("And the two and the three?", conversation_id=conversation).json
    assert fallen_back["degraded_reasons"]["agent"] == "llm_refused"
    rewritings = [one for one in llm.requests if "You rewrite" in one["messages"][0]["content"]]
    assert len(rewritings) == 1


def test_thanks_in_a_conversation_is_small_talk_and_costs_no_llm_call(bot: Bot, llm: OpenAIServer) -> None:
    bot.document()
    conversation = str(uuid4())
    llm.answer(llms.Reply("Two to four working days [1]."))
    bot.ask("How long do transfers abroad take?", conversation_id=conversation)
    before = len(llm.requests)
    thanked = bot.ask("Thanks!", conversation_id=conversation).json
    assert (thanked["routing"]["decided_by"], thanked["searched"]) == ("small_talk", None)
    assert len(llm.requests) == before
    kept = bot.api.call("GET", f"/vector/conversations/{conversation}").json["messages"]
    assert [message["role"] for message in kept] == ["user", "assistant"]


def test_without_a_model_the_more_probable_path_is_taken_and_a_missing_agent_is_named(
    bot: Bot, monkeypatch: pytest.MonkeyPatch
) -> None:
    bot.document()
    monkeypatch.setenv("EGRESS_ALLOW_LOOPBACK", "")  # no development stack: nothing acts without a model
    reply = bot.ask(ACT)
    assert reply.status == 200, reply.body
    assert reply.json["intent"] == "execution"
    assert reply.json["processing_type"] == "rag_information_retrieval"
    assert reply.json["degraded_reasons"]["agent"] == "llm_not_configured"
    assert reply.json["mcp_tools_used"] == []


def test_another_tenants_bot_is_unknown_and_a_foreign_user_as_well(bot: Bot) -> None:
    stranger = uuid4()
    foreign = bot.ask(ACT, user=stranger)
    assert (foreign.status, foreign.json["code"]) == (404, "bot_not_found")
    greeted = bot.ask("Hello", user=stranger)
    assert (greeted.status, greeted.json["code"]) == (404, "bot_not_found")
    body = {"user_id": str(stranger), "bot_id": bot.id, "client_id": "test", "query": ACT}
    assert bot.api.call("POST", "/vector/query-dynamic", json_body=body).status == 404
