"""Ask the real services questions, up to the prompt: an LLM that answers at once."""

import json
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from uuid import UUID, uuid4

from botforge.adapters.clock import SystemClock
from botforge.adapters.embedding.onnx import OnnxEmbedder
from botforge.adapters.postgres.bots import PostgresBots
from botforge.adapters.postgres.chunks import PostgresChunks
from botforge.adapters.postgres.conversations import PostgresConversations
from botforge.adapters.postgres.database import Database
from botforge.adapters.postgres.queries import PostgresQueries
from botforge.adapters.vectors.pgvector import PgVectorIndex
from botforge.domain.answer import Link, Usage
from botforge.domain.deadline import Deadline
from botforge.domain.ids import BotId, ObjectKey, UserId
from botforge.domain.query import Query
from botforge.ports.chat import Completion, Message, ToolOffer
from botforge.services.answering import Answerer
from botforge.services.dialogue import Dialogue
from botforge.services.extractive import ExtractiveAnswerer
from botforge.services.grounding import GroundingCheck
from botforge.services.query import QueryService
from botforge.services.query_log import QueryLog
from botforge.services.question_search import QuestionSearch
from botforge.services.retrieval import Retriever
from botforge.services.source_links import SourceLinks


class InstantChatModel:
    def complete(
        self,
        messages: Sequence[Message],
        *,
        model: str | None,
        deadline: Deadline,
        tools: Sequence[ToolOffer] = (),
        must_answer: bool = False,
    ) -> Completion:
        assert not tools  # noqa: S101 - answers are written from passages
        assert not must_answer  # noqa: S101
        deadline.check()
        return Completion("Yes [1].", model or "instant", Usage(len(messages), 1))


class NoLinks:
    """The other side signs no links to documents either."""

    def link(self, key: ObjectKey) -> Link:
        return Link(str(key), 0)


job = json.load(sys.stdin)
database = Database(os.environ["DATABASE_URL"])
embedder = OnnxEmbedder(Path(os.environ["EMBEDDING_MODEL_DIR"]))
service = QueryService(
    log=QueryLog(PostgresBots(database), PostgresQueries(database)),
    dialogue=Dialogue(PostgresConversations(database), None),
    search=QuestionSearch(Retriever(embedder, PgVectorIndex(database), PostgresChunks(database)), None),
    answerer=Answerer(InstantChatModel(), ExtractiveAnswerer(embedder), GroundingCheck(embedder)),
    links=SourceLinks(NoLinks()),
    clock=SystemClock(),
)
measured: list[dict[str, float]] = []
for number, question in enumerate(job["questions"]):
    query = Query(
        id=uuid4(),
        user_id=UserId(UUID(job["user"])),
        bot_id=BotId(UUID(job["bot"])),
        client_id="benchmark",
        text=question,
        similarity_threshold=0.0,  # always as many passages as asked for, as on the other side
    )
    start = time.perf_counter()
    result = service.ask(query, Deadline.after(25))
    total_ms = (time.perf_counter() - start) * 1000
    assert result.answer.sources and not result.degraded, (result.answer, result.degraded)  # noqa: S101, PT018
    if number >= job["warm_up"]:
        stages = result.record.stage_ms
        measured.append({**stages, "record": total_ms - result.record.latency_ms, "total": total_ms})
print(json.dumps({"measured": measured}))
