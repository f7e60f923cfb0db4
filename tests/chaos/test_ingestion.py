"""Whatever order events arrive in, however often, wherever a worker dies: what answers quote is what the bucket holds.

On a real PostgreSQL; the worker's other parts are in memory, and a "kill" is an exception that nothing in the worker
catches (``BaseException``), raised instead of the n-th call that leaves the process.
"""

import itertools
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

import pytest
from tests.fakes.clock import FixedClock
from tests.fakes.embedding import BagOfWordsEmbedder
from tests.fakes.extraction import PlainTextExtractor
from tests.fakes.objects import InMemoryObjectStore
from tests.fakes.vectors import InMemoryVectorIndex

from botforge.adapters.postgres.bots import PostgresBots
from botforge.adapters.postgres.chunks import PostgresChunks
from botforge.adapters.postgres.database import Database
from botforge.adapters.postgres.documents import PostgresDocuments
from botforge.domain.bot import Bot
from botforge.domain.document import Document, DocumentStatus
from botforge.domain.errors import Unavailable
from botforge.domain.ids import BotId, ObjectKey, UserId
from botforge.domain.ingestion import MAX_DOCUMENT_BYTES, IngestionResult, ObjectEvent, Outcome
from botforge.domain.reasons import Reason
from botforge.services.ingestion import IngestionService

SOMEBODY = "5d9f7c1e-5b1a-4c7e-9f0e-2f4f5d1c8a11"


class Killed(BaseException):
    """The process is gone: no handler of ours may see this."""


@dataclass(slots=True)
class Interruptible:
    """Any port, with something that happens before each call to it."""

    port: Any
    before: Callable[[str], None]

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - stands in for any port
        attribute = getattr(self.port, name)
        if not callable(attribute):
            return attribute

        def call(*arguments: Any, **named: Any) -> Any:  # noqa: ANN401
            self.before(name)
            return attribute(*arguments, **named)

        return call


@dataclass(slots=True)
class World:
    """One bot, its bucket, index and database, and workers that take events."""

    database: Database
    bot: Bot
    objects: InMemoryObjectStore = field(default_factory=InMemoryObjectStore)
    vectors: InMemoryVectorIndex = field(default_factory=InMemoryVectorIndex)

    def key(self, path: str = "a.txt") -> ObjectKey:
        return ObjectKey(self.bot.user_id, self.bot.id, path)

    def put(self, text: str, path: str = "a.txt") -> None:
        self.objects.put_raw(str(self.key(path)), text.encode())

    def worker(self, before: Callable[[str], None] = lambda _call: None) -> IngestionService:
        def interruptible(port: object) -> Any:  # noqa: ANN401 - stands in for any port
            return Interruptible(port, before)

        return IngestionService(
            documents=interruptible(PostgresDocuments(self.database)),
            chunks=interruptible(PostgresChunks(self.database)),
            vectors=interruptible(self.vectors),
            objects=interruptible(self.objects),
            extractor=interruptible(PlainTextExtractor()),
            embedder=interruptible(BagOfWordsEmbedder()),
            tokenizer=BagOfWordsEmbedder(),
            clock=FixedClock(),
            pause=lambda _seconds: None,
        )

    def handle(self, *, sequencer: str | None = None, path: str = "a.txt", last: bool = False) -> IngestionResult:
        return self.worker().handle(self.event(sequencer, path), last_attempt=last)

    def event(self, sequencer: str | None = None, path: str = "a.txt") -> ObjectEvent:
        return ObjectEvent(str(self.key(path)), sequencer, FixedClock().now(), "request-1")

    def quotable(self) -> list[str]:
        """The text that answers could quote now."""
        chunks = PostgresChunks(self.database)
        return [chunk.text for _, chunk in chunks.active(self.bot.user_id, self.bot.id)]

    def retrievable(self) -> list[str]:
        """The active text that the index leads to."""
        chunks = PostgresChunks(self.database)
        stored = self.vectors.vectors.get(self.bot.id, {})
        return [chunk.text for ref, chunk in chunks.active(self.bot.user_id, self.bot.id) if ref in stored]

    def document(self) -> Document | None:
        documents = PostgresDocuments(self.database)
        page = documents.list(self.bot.user_id, self.bot.id, status=None, limit=5, cursor=None)
        return page.items[0] if page.items else None


@pytest.fixture
def world(tenant: Database) -> World:
    now = FixedClock().now()
    bot = Bot(BotId(uuid4()), UserId(uuid4()), "Bot", "", True, 5, 0.5, now, now)
    return World(tenant, PostgresBots(tenant).create(bot))


def dies_before(call: int) -> Callable[[str], None]:
    calls = itertools.count()

    def before(_name: str) -> None:
        if next(calls) == call:
            raise Killed

    return before


def calls_of(world: World) -> int:
    """How many calls handling the event takes, counted on a document that is new to the worker."""
    counted: list[str] = []
    world.worker(counted.append).handle(world.event())
    return len(counted)


@pytest.mark.parametrize("change", ["create", "replace", "remove", "break"])
def test_a_worker_killed_before_any_of_its_calls_leaves_nothing_that_the_next_delivery_does_not_mend(
    world: World, change: str
) -> None:
    old, new = "the old text", "the new text"
    for step in range(14):
        world.objects.delete(world.key())
        world.handle()
        if change != "create":
            world.put(old)
            assert world.handle().outcome is Outcome.INDEXED
        match change:
            case "create" | "replace":
                world.put(f"{new} {step}")
            case "remove":
                world.objects.delete(world.key())
            case _:
                world.put("corrupt")
        expected = [f"{new} {step}"] if change in {"create", "replace"} else []
        try:
            world.worker(dies_before(step)).handle(world.event())
        except Killed:
            before = [] if change == "create" else [old]
            assert world.quotable() in (before, expected), f"half-written after step {step}"
            world.handle()
        assert world.quotable() == world.retrievable() == expected, f"not mended after step {step}"
        assert len(world.vectors.vectors.get(world.bot.id, {})) == len(expected), f"leftovers after step {step}"


def test_the_steps_above_are_all_the_steps_there_are(world: World) -> None:
    world.put("text")
    assert calls_of(world) <= 14


@pytest.mark.parametrize(("most", "compared"), [(2_000, True), (1, False)])
def test_sentences_of_a_document_get_vectors_unless_it_is_very_long(
    world: World, monkeypatch: pytest.MonkeyPatch, most: int, *, compared: bool
) -> None:
    monkeypatch.setattr("botforge.services.ingestion.MAX_CHUNKS_WITH_SENTENCES", most)
    world.put("A sentence stands here. " * 200)
    assert world.handle().outcome is Outcome.INDEXED
    found = PostgresChunks(world.database).search(
        world.bot.user_id, world.bot.id, "sentence", (), vector=[1.0, *[0.0] * 383], lexical_limit=9, limit=9
    )
    assert len(found) > 1
    assert all(bool(one.sentence_cosines) is compared for one in found)


@pytest.mark.parametrize("seed", range(12))
def test_events_in_any_order_and_number_end_where_the_bucket_ends(world: World, seed: int) -> None:
    chance = random.Random(seed)
    history = [chance.choice(["put", "put", "delete"]) for _ in range(6)]
    events = [f"{number:04X}" for number in range(len(history))]
    deliveries = [sequencer for sequencer in events for _ in range(chance.randint(1, 3))]
    chance.shuffle(deliveries)
    for number, action in enumerate(history):
        if action == "put":
            world.put(f"version {number}")
        else:
            world.objects.delete(world.key())
        for _ in range(chance.randint(0, 2)):  # some arrive while the bucket goes on changing
            if deliveries:
                world.handle(sequencer=deliveries.pop())
    for sequencer in [*deliveries, events[-1]]:
        world.handle(sequencer=sequencer)
    expected = [f"version {len(history) - 1}"] if history[-1] == "put" else []
    assert world.quotable() == world.retrievable() == expected


def test_a_slow_worker_that_read_the_old_content_cannot_overwrite_the_new(world: World) -> None:
    world.put("old")

    def overtaken(call: str) -> None:
        if call == "activate":
            world.put("new")
            assert world.handle().outcome is Outcome.INDEXED

    assert world.worker(overtaken).handle(world.event()).outcome is Outcome.SUPERSEDED
    assert world.quotable() == ["new"]


def test_a_document_deleted_while_a_worker_reads_it_is_not_indexed(world: World) -> None:
    world.put("text")

    def deleted(call: str) -> None:
        if call == "activate":
            document = world.document()
            assert document is not None
            world.objects.delete(world.key())
            PostgresDocuments(world.database).forget(world.bot.user_id, world.bot.id, document.id)

    assert world.worker(deleted).handle(world.event()).outcome is Outcome.SUPERSEDED
    assert world.quotable() == []


def test_the_same_event_again_embeds_nothing_again(world: World) -> None:
    world.put("text")
    assert world.handle(sequencer="01").outcome is Outcome.INDEXED
    calls: list[str] = []
    assert world.worker(calls.append).handle(world.event("01")).outcome is Outcome.UNCHANGED
    assert "embed" not in calls
    assert world.quotable() == ["text"]


def test_a_document_is_not_indexed_before_the_index_shows_its_chunks(world: World) -> None:
    world.put("text")
    world.vectors.late_by = 3

    def watch(call: str) -> None:
        if call == "missing":
            document = world.document()
            assert document is not None
            assert document.status is DocumentStatus.PROCESSING

    assert world.worker(watch).handle(world.event()).outcome is Outcome.INDEXED


def test_an_index_that_never_shows_the_chunks_fails_the_delivery_and_not_the_truth(world: World) -> None:
    world.put("text")
    world.vectors.late_by = 10_000
    with pytest.raises(Unavailable):
        world.handle()
    document = world.document()
    assert document is not None
    assert (document.status, world.quotable()) == (DocumentStatus.PENDING, [])


@pytest.mark.parametrize("last", [False, True])
def test_a_passing_fault_is_raised_for_the_queue_and_only_the_last_attempt_fails_the_document(
    world: World, *, last: bool
) -> None:
    world.put("text")
    world.vectors.unavailable = True
    with pytest.raises(Unavailable):
        world.handle(last=last)
    document = world.document()
    assert document is not None
    expected = (DocumentStatus.FAILED, Reason.RETRIES_EXHAUSTED) if last else (DocumentStatus.PENDING, None)
    assert (document.status, document.reason) == expected
    world.vectors.unavailable = False
    assert world.handle().outcome is Outcome.INDEXED


@pytest.mark.parametrize(
    ("content", "path", "outcome", "reason"),
    [
        ("", "a.txt", Outcome.FAILED, "empty"),
        ("  \n ", "a.txt", Outcome.FAILED, "empty"),
        ("corrupt", "a.txt", Outcome.FAILED, "corrupt"),
        ("x" * (MAX_DOCUMENT_BYTES + 1), "a.txt", Outcome.REJECTED, "too_large"),
        ("text", "../a.txt", Outcome.REJECTED, "invalid_name"),
        ("text", "a//b.txt", Outcome.REJECTED, "invalid_name"),
    ],
)
def test_what_cannot_be_read_ends_with_a_reason_and_takes_its_earlier_text_along(
    world: World, content: str, path: str, outcome: Outcome, reason: str
) -> None:
    if path == "a.txt":
        world.put("earlier", path)
        world.handle(path=path)
    world.put(content, path)
    result = world.handle(path=path)
    document = world.document()
    assert document is not None
    assert (result.outcome, result.reason, document.reason) == (outcome, reason, reason)
    assert world.quotable() == []


@pytest.mark.parametrize(
    ("key", "reason"),
    [
        ("", "invalid_key"),
        ("readme.txt", "invalid_key"),
        ("x/y/z", "invalid_key"),
        (f"{SOMEBODY}/{SOMEBODY}/", "invalid_key"),
        (f"{SOMEBODY}/{SOMEBODY}/a.txt", "unknown_bot"),
        (f"{SOMEBODY.upper()}/{SOMEBODY}/a.txt", "invalid_key"),
    ],
)
def test_objects_of_nobody_are_ignored_with_a_reason(world: World, key: str, reason: str) -> None:
    result = world.worker().handle(ObjectEvent(key, None, None, None))
    assert (result.outcome, result.reason) == (Outcome.IGNORED, reason)


def test_an_object_under_another_users_name_is_not_read_into_the_bot(world: World) -> None:
    foreign = ObjectKey(UserId(uuid4()), world.bot.id, "a.txt")
    world.objects.put_raw(str(foreign), b"planted")
    result = world.worker().handle(ObjectEvent(str(foreign), None, None, None))
    assert (result.outcome, world.quotable()) == (Outcome.IGNORED, [])
