"""Another embedding model is a setting and a re-embedding away, and until then nothing mixes the two's vectors."""

import json
from pathlib import Path
from typing import Any
from uuid import UUID

import psycopg
import pytest
from tests.conftest import TestDatabase
from tests.fakes import tool_records
from tests.functions.conftest import Api

from botforge.adapters.embedding.onnx import OnnxEmbedder
from botforge.adapters.postgres.database import Database
from botforge.adapters.postgres.tool_servers import PostgresToolServers
from botforge.adapters.postgres.vector_space import PostgresVectorSpace
from botforge.domain.errors import Conflict
from botforge.domain.ids import BotId, UserId
from botforge.domain.routing import BAND
from botforge.domain.tool import ToolDefinition
from botforge.domain.tool_text import tool_text
from botforge.wiring.reindex import reindex

FAQ = b"The warranty of the Nimbus bicycle lasts five years.\n"
QUESTION = "How long does the warranty of the Nimbus bicycle last?"


@pytest.fixture
def other_model(model_dir: Path, tmp_path: Path) -> Path:
    """The artefact under another name: what it gives is told apart by its id alone."""
    folder = tmp_path / "model"
    folder.mkdir()
    for file in model_dir.iterdir():
        (folder / file.name).symlink_to(file)
    manifest = json.loads((model_dir / "manifest.json").read_text(encoding="utf-8"))
    (folder / "manifest.json").unlink()
    (folder / "manifest.json").write_text(json.dumps(manifest | {"model_id": "another-model"}), encoding="utf-8")
    return folder


@pytest.fixture
def bot(api: Api) -> str:
    made = api.create_bot()
    api.upload(made, "faq.txt", FAQ)
    api.ingest(made, "faq.txt")
    examples = {"examples": [{"text": "Ship it", "intent": "execution"}]}
    assert api.call("POST", f"/api/bots/{made}/routing-examples", json_body=examples).status == 201
    return made


def change(api: Api, model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EMBEDDING_MODEL_DIR", str(model))
    api.restart()


def test_before_the_reembedding_search_goes_on_by_words_and_says_why(
    api: Api, bot: str, other_model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    change(api, other_model, monkeypatch)
    answered = api.ask(bot, QUESTION).json
    assert answered["degraded_reasons"]["embedding"] == "embedding_model_changed"
    assert [(source["filename"], source["score"]) for source in answered["sources"]] == [("faq.txt", None)]


def test_before_the_reembedding_nothing_of_the_new_model_is_stored(
    api: Api, bot: str, other_model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    change(api, other_model, monkeypatch)
    api.upload(bot, "new.txt", b"Chains are oiled twice a year.\n")
    assert api.ingest(bot, "new.txt")["batchItemFailures"]
    examples = {"examples": [{"text": "Send it", "intent": "execution"}]}
    refused = api.call("POST", f"/api/bots/{bot}/routing-examples", json_body=examples)
    assert (refused.status, refused.json["code"]) == (503, "embedding_model_changed")


def test_after_the_reembedding_all_works_and_what_is_calibrated_for_the_old_model_is_named(
    api: Api, bot: str, other_model: Path, database: TestDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    change(api, other_model, monkeypatch)
    monkeypatch.setenv("DATABASE_URL", database.worker)
    with pytest.raises(Conflict):
        list(reindex(BotId(UUID(bot))))
    assert [written for _, written in reindex(None)] == [1]
    monkeypatch.setenv("DATABASE_URL", database.tenant)
    api.restart()
    answered = api.ask(bot, QUESTION).json
    assert answered["degraded_reasons"] == {"llm": "llm_not_configured", "relevance": "not_calibrated"}
    assert answered["sources"][0]["score"] > 0.5
    api.upload(bot, "new.txt", b"Chains are oiled twice a year.\n")
    assert api.ingest(bot, "new.txt") == {"batchItemFailures": []}


def test_a_rebuild_gives_sentences_their_vectors_and_a_change_of_model_leaves_none_of_the_old_ones(
    bot: str, database: TestDatabase, worker: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    def vectors() -> list[Any]:
        with psycopg.connect(database.owner) as owner:
            rows = owner.execute("select embeddings::text from chunk_sentences where bot_id = %s", (bot,))
            return [text for (text,) in rows.fetchall()]

    ingested = vectors()
    assert len(ingested) == 1
    PostgresVectorSpace(worker).switch("all-MiniLM-L6-v2", {}, {})
    assert vectors() == []
    monkeypatch.setenv("DATABASE_URL", database.worker)
    assert list(reindex(BotId(UUID(bot)))) == [(BotId(UUID(bot)), 1)]
    assert vectors() == ingested


def test_a_router_that_was_not_trained_on_the_model_is_unsure_and_says_so(
    api: Api, bot: str, other_model: Path, database: TestDatabase, tenant: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    definition = ToolDefinition("add", "Add two numbers", {"type": "object"}, digest="0")
    server = tool_records.a_server(tool_records.a_bot(UserId(api.user)), "Desk", bot_id=BotId(UUID(bot)))
    vector = OnnxEmbedder(other_model).embed([tool_text(definition)])[0].vector
    tool = tool_records.a_tool(server, definition=definition)
    PostgresToolServers(tenant).create(server, [tool], [vector])
    change(api, other_model, monkeypatch)
    monkeypatch.setenv("DATABASE_URL", database.worker)
    assert len(list(reindex(None))) == 1
    monkeypatch.setenv("DATABASE_URL", database.tenant)
    body = {"user_id": str(api.user), "bot_id": bot, "client_id": "test", "query": QUESTION}
    routing = api.call("POST", "/vector/query-dynamic", json_body=body).json["routing"]
    assert (routing["decided_by"], routing["best_tool"]) == ("untrained", "add")
    assert BAND.holds(routing["p_execution"])
