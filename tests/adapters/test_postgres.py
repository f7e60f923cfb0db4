"""What the tables promise, on a real PostgreSQL as the runtime roles."""

import os
import signal
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from psycopg import sql
from psycopg.rows import scalar_row, tuple_row
from tests.conftest import TestDatabase

from botforge.adapters.postgres.bots import PostgresBots
from botforge.adapters.postgres.chunks import PostgresChunks
from botforge.adapters.postgres.database import Database
from botforge.adapters.postgres.documents import PostgresDocuments
from botforge.adapters.postgres.health import PostgresHealth
from botforge.adapters.postgres.maintenance import PostgresMaintenance
from botforge.adapters.postgres.migrate import available, migrate
from botforge.adapters.postgres.queries import PostgresQueries
from botforge.domain.bot import Bot
from botforge.domain.chunk import Candidate, Chunk, Hit
from botforge.domain.document import DocumentStatus, ObjectInfo
from botforge.domain.errors import DatabaseUnavailable, DeadlineExceeded, InvalidRequest, NotFound
from botforge.domain.ids import BotId, ChunkRef, DocumentId, ObjectKey, UserId
from botforge.domain.query import Intent, ProcessingType, Query, QueryRecord, QueryStatus
from botforge.domain.reasons import Reason
from botforge.domain.work import Claim
from botforge.ports.embedding import Vector

INFO = ObjectInfo(size=3, content_type="text/plain", etag="one", version_id=None, correlation_id=None)
NOW = datetime(2026, 1, 1, tzinfo=UTC)


def a_bot(database: Database, user: UserId | None = None, name: str = "Bot") -> Bot:
    bot = Bot(BotId(uuid4()), user or UserId(uuid4()), name, "", True, 5, 0.5, NOW, NOW)
    return PostgresBots(database).create(bot)


def key_of(bot: Bot, path: str = "a.txt") -> ObjectKey:
    return ObjectKey(bot.user_id, bot.id, path)


def claimed(database: Database, key: ObjectKey, sequencer: str | None = None) -> Claim:
    claim = PostgresDocuments(database).claim(key, sequencer=sequencer, correlation_id=None)
    assert claim is not None
    return claim


def index(database: Database, key: ObjectKey, *texts: str) -> Claim:
    claim = claimed(database, key)
    PostgresChunks(database).write(claim, [Chunk(number, text) for number, text in enumerate(texts)])
    assert PostgresDocuments(database).activate(claim, INFO, chunks=len(texts), truncated=0, title=None)
    return claim


def found(
    database: Database,
    bot: Bot,
    text: str,
    hits: Sequence[Hit] = (),
    *,
    vector: Vector | None = None,
    limit: int = 20,
    document_ids: Sequence[DocumentId] = (),
) -> list[Candidate]:
    return PostgresChunks(database).search(
        bot.user_id, bot.id, text, hits, vector=vector, lexical_limit=10, limit=limit, document_ids=document_ids
    )


def test_migrating_twice_applies_nothing_the_second_time(database: TestDatabase) -> None:
    assert migrate(database.owner) == []


def test_health_asks_for_the_schema_that_the_code_was_written_for(database: TestDatabase, tenant: Database) -> None:
    PostgresHealth(tenant).ping()
    with psycopg.connect(database.owner, autocommit=True) as owner:
        owner.execute("delete from schema_migrations where version = %s", (max(available()),))
    with pytest.raises(DatabaseUnavailable) as raised:
        PostgresHealth(tenant).ping()
    assert raised.value.code == "schema_outdated"


@pytest.mark.parametrize("table", ["bots", "documents", "chunks", "chunk_vectors", "queries"])
def test_row_level_security_hides_other_tenants_even_from_a_query_without_a_condition(
    tenant: Database, database: TestDatabase, table: str
) -> None:
    bot = a_bot(tenant)
    claim = index(tenant, key_of(bot), "text")
    with psycopg.connect(database.owner, autocommit=True) as owner:
        vector = "[" + ",".join(["0.1"] * 384) + "]"
        row = (claim.document_id, bot.user_id, bot.id, vector)
        owner.execute("insert into chunk_vectors values (%s, 1, 0, %s, %s, %s)", row)
    PostgresQueries(tenant).record(a_record(bot))
    count = sql.SQL("select count(*) from {}").format(sql.Identifier(table))
    with tenant.transaction(bot.user_id) as connection:
        assert connection.execute(count).fetchone() == (1,)
    for other in (UserId(uuid4()), None):
        with tenant.transaction(other) as connection:
            assert connection.execute(count).fetchone() == (0,)


def test_lexical_search_runs_as_the_owner_and_still_sees_one_tenant_only(tenant: Database) -> None:
    bot = a_bot(tenant)
    index(tenant, key_of(bot), "zebra crossing")
    statement = "select count(*) from chunks_with_lexeme(%(bot)s, 'zebra'::tsquery, '{}', 10)"
    assert tenant.fetch(bot.user_id, statement, {"bot": bot.id}, scalar_row) == [1]
    assert tenant.fetch(UserId(uuid4()), statement, {"bot": bot.id}, scalar_row) == [0]
    assert tenant.fetch(None, statement, {"bot": bot.id}, scalar_row) == [0]


def test_the_runtime_roles_own_nothing_and_cannot_change_the_schema(tenant: Database, worker: Database) -> None:
    for database in (tenant, worker):
        with pytest.raises(psycopg.errors.InsufficientPrivilege), database.transaction(None) as connection:
            connection.execute("create table theirs (id integer)")
        with pytest.raises(psycopg.errors.InsufficientPrivilege), database.transaction(None) as connection:
            connection.execute("alter table bots disable row level security")


def test_a_connection_that_died_while_idle_is_replaced(tenant: Database, database: TestDatabase) -> None:
    bot = a_bot(tenant)
    for use in (lambda: PostgresBots(tenant).get(bot.user_id, bot.id), lambda: PostgresBots(tenant).update(bot)):
        with psycopg.connect(database.owner, autocommit=True) as owner:
            owner.execute("select pg_terminate_backend(pid) from pg_stat_activity where usename = 'test_tenant'")
        assert use() is not None


def test_a_database_that_is_not_there_is_unavailable_and_its_password_is_not_told() -> None:
    dead = Database("postgresql://user:secret-word@127.0.0.1:1/none")
    with pytest.raises(DatabaseUnavailable) as raised:
        PostgresBots(dead).get(UserId(uuid4()), BotId(uuid4()))
    assert "secret-word" not in f"{raised.value} {raised.value.__cause__}"


def test_a_statement_that_takes_too_long_ends_at_its_deadline(database: TestDatabase) -> None:
    hurried = Database(database.tenant, statement_timeout_ms=50)
    with pytest.raises(DeadlineExceeded):
        hurried.fetch(None, "select pg_sleep(30)", {}, tuple_row)
    assert hurried.fetch(None, "select 1", {}, scalar_row) == [1]
    hurried.close()


def test_a_database_that_is_frozen_is_given_up_on_and_the_next_request_finds_a_new_connection(
    database: TestDatabase,
) -> None:
    hurried = Database(database.tenant, statement_timeout_ms=200)
    (backend,) = hurried.fetch(None, "select pg_backend_pid()", {}, scalar_row)
    os.kill(backend, signal.SIGSTOP)
    try:
        for use in (
            lambda: hurried.fetch(None, "select 1", {}, scalar_row),
            lambda: hurried.transaction(None).__enter__(),
        ):
            with pytest.raises(DeadlineExceeded):
                use()
            assert hurried.fetch(None, "select 1", {}, scalar_row) == [1]
            (other,) = hurried.fetch(None, "select pg_backend_pid()", {}, scalar_row)
            os.kill(other, signal.SIGSTOP)
            os.kill(backend, signal.SIGCONT)
            backend = other
    finally:
        os.kill(backend, signal.SIGCONT)
        hurried.close()


def test_an_error_inside_a_transaction_leaves_nothing_and_the_connection_usable(tenant: Database) -> None:
    bot = a_bot(tenant)

    def change_and_fail() -> None:
        with tenant.transaction(bot.user_id) as connection:
            connection.execute("update bots set name = 'changed'")
            connection.execute("select 1 / 0")

    with pytest.raises(psycopg.errors.DivisionByZero):
        change_and_fail()
    unchanged = PostgresBots(tenant).get(bot.user_id, bot.id)
    assert unchanged is not None
    assert unchanged.name == "Bot"


def test_lists_are_paged_without_gaps_or_repeats(tenant: Database) -> None:
    user = UserId(uuid4())
    made = {a_bot(tenant, user, f"Bot {number}").id for number in range(7)}
    seen: list[UUID] = []
    cursor: str | None = None
    while True:
        page = PostgresBots(tenant).list(user, limit=3, cursor=cursor)
        seen += [bot.id for bot in page.items]
        if (cursor := page.next_cursor) is None:
            break
    assert len(seen) == 7
    assert set(seen) == made


@pytest.mark.parametrize("cursor", ["", "x", "🙂", "MjAyNg==", "MjAyNi0wMS0wMSAwMDAw", "=" * 50])
def test_a_cursor_that_is_not_ours_is_refused(tenant: Database, cursor: str) -> None:
    with pytest.raises(InvalidRequest):
        PostgresBots(tenant).list(UserId(uuid4()), limit=3, cursor=cursor)


def test_a_deleted_bot_is_gone_for_its_owner_and_left_for_the_monitor(tenant: Database, worker: Database) -> None:
    bot = a_bot(tenant)
    index(tenant, key_of(bot), "text")
    assert PostgresBots(tenant).delete(bot.user_id, bot.id)
    assert not PostgresBots(tenant).delete(bot.user_id, bot.id)
    assert PostgresBots(tenant).get(bot.user_id, bot.id) is None
    assert [purgeable.bot_id for purgeable in PostgresMaintenance(worker).deleted_bots(limit=5)] == [bot.id]
    PostgresMaintenance(worker).purge_bot(bot.user_id, bot.id)
    assert PostgresMaintenance(worker).deleted_bots(limit=5) == []


def test_a_bot_that_is_not_deleted_cannot_be_purged(tenant: Database, worker: Database) -> None:
    bot = a_bot(tenant)
    PostgresMaintenance(worker).purge_bot(bot.user_id, bot.id)
    assert PostgresBots(tenant).get(bot.user_id, bot.id) is not None


def test_a_claim_for_a_bot_that_is_not_the_users_finds_none(tenant: Database) -> None:
    bot = a_bot(tenant)
    with pytest.raises(NotFound):
        claimed(tenant, ObjectKey(UserId(uuid4()), bot.id, "a.txt"))
    with pytest.raises(NotFound):
        claimed(tenant, ObjectKey(bot.user_id, BotId(uuid4()), "a.txt"))


def test_an_event_older_than_the_one_handled_is_stale_and_the_same_one_is_not(tenant: Database) -> None:
    documents, key = PostgresDocuments(tenant), key_of(a_bot(tenant))
    claimed(tenant, key, "0055AED6DCD90281E5")
    assert documents.claim(key, sequencer="0055AED6DCD90281E4", correlation_id=None) is None
    assert documents.claim(key, sequencer="0055aed6dcd90281e5", correlation_id=None) is not None
    assert documents.claim(key, sequencer="0055AED6DCD90281E5F", correlation_id=None) is not None
    assert documents.claim(key, sequencer="0055AED6DCD90281E5", correlation_id=None) is None


def test_only_the_latest_claim_may_change_what_is_visible(tenant: Database) -> None:
    documents, bot = PostgresDocuments(tenant), None
    bot = a_bot(tenant)
    first = claimed(tenant, key_of(bot))
    second = claimed(tenant, key_of(bot))
    PostgresChunks(tenant).write(first, [Chunk(0, "the older text")])
    PostgresChunks(tenant).write(second, [Chunk(0, "the newer text")])
    assert documents.activate(second, INFO, chunks=1, truncated=0, title=None)
    assert not documents.activate(first, INFO, chunks=1, truncated=0, title=None)
    assert not documents.remove(first)
    assert not documents.reject(first, INFO, DocumentStatus.FAILED, Reason.CORRUPT, "")
    assert [candidate.text for candidate in found(tenant, bot, "text")] == ["the newer text"]


def test_text_that_is_not_active_is_never_found_by_either_search(tenant: Database) -> None:
    bot = a_bot(tenant)
    old = index(tenant, key_of(bot), "the old price is ten")
    new = claimed(tenant, key_of(bot))
    PostgresChunks(tenant).write(new, [Chunk(0, "the new price is twenty")])
    hits = [Hit(ChunkRef(claim.document_id, claim.generation, 0), 0.9) for claim in (old, new)]
    assert [c.text for c in found(tenant, bot, "price", hits)] == ["the old price is ten"]
    PostgresDocuments(tenant).activate(new, INFO, chunks=1, truncated=0, title=None)
    assert [c.text for c in found(tenant, bot, "price", hits)] == ["the new price is twenty"]
    PostgresDocuments(tenant).forget(bot.user_id, bot.id, new.document_id)
    assert found(tenant, bot, "price", hits) == []


def test_forgetting_a_document_supersedes_the_worker_that_is_reading_it(tenant: Database) -> None:
    bot = a_bot(tenant)
    claim = claimed(tenant, key_of(bot))
    PostgresChunks(tenant).write(claim, [Chunk(0, "text")])
    assert PostgresDocuments(tenant).forget(bot.user_id, bot.id, claim.document_id) is not None
    assert not PostgresDocuments(tenant).activate(claim, INFO, chunks=1, truncated=0, title=None)
    assert PostgresDocuments(tenant).get(bot.user_id, bot.id, claim.document_id) is None


def test_hits_of_another_bot_are_not_candidates(tenant: Database) -> None:
    bot = a_bot(tenant)
    other = a_bot(tenant, bot.user_id)
    claim = index(tenant, key_of(other), "theirs")
    assert found(tenant, bot, "theirs", [Hit(ChunkRef(claim.document_id, claim.generation, 0), 1.0)]) == []


def test_in_a_bot_of_one_passage_a_word_it_lacks_does_not_outweigh_those_it_has(tenant: Database) -> None:
    bot = a_bot(tenant)
    index(tenant, key_of(bot), "The warranty of a folding bicycle lasts five years.")
    (only,) = found(tenant, bot, "How long does the warranty of my folding bicycle hold?")
    assert only.lexical_coverage > 0.5


def test_a_candidate_knows_its_rank_its_coverage_and_where_it_stands(tenant: Database) -> None:
    bot = a_bot(tenant)
    index(tenant, key_of(bot, "x/b.md"), "Nothing of the kind.", "A zebra has stripes.", "A zebra eats grass in Kenya.")
    best, second = sorted(found(tenant, bot, "zebra in Kenya"), key=lambda c: c.lexical_rank or 99)
    assert (best.text, best.lexical_rank, best.filename) == ("A zebra eats grass in Kenya.", 1, "b.md")
    assert best.lexical_coverage == pytest.approx(1.0)
    assert 0 < second.lexical_coverage < 0.5


def test_lexical_search_keeps_to_the_documents_that_were_asked_for(tenant: Database) -> None:
    bot = a_bot(tenant)
    index(tenant, key_of(bot, "one.txt"), "zebra one")
    two = index(tenant, key_of(bot, "two.txt"), "zebra two")
    candidates = found(tenant, bot, "zebra", document_ids=[two.document_id])
    assert [candidate.text for candidate in candidates] == ["zebra two"]


def unit(*places: int) -> list[float]:
    """A vector of unit length between the axes that are named."""
    return [len(places) ** -0.5 if place in places else 0.0 for place in range(384)]


def test_a_candidate_knows_how_near_each_of_its_sentences_is(tenant: Database) -> None:
    bot = a_bot(tenant)
    claim = index(tenant, key_of(bot), "Zebras have stripes. They eat grass.", "Zebras again.")
    first, second = (ChunkRef(claim.document_id, claim.generation, ordinal) for ordinal in (0, 1))
    chunks = PostgresChunks(tenant)
    chunks.write_sentences(bot.user_id, bot.id, [(first, [unit(9), unit(9)])])
    chunks.write_sentences(bot.user_id, bot.id, [(first, [unit(1), unit(1, 2)])])
    known = {one.ref: one.sentence_cosines for one in found(tenant, bot, "zebras", vector=unit(2))}
    assert known == {first: pytest.approx((0.0, 0.7071), abs=1e-3), second: ()}
    assert [one.sentence_cosines for one in found(tenant, bot, "zebras")] == [(), ()]


def test_vectors_of_sentences_go_with_their_text(tenant: Database, database: TestDatabase) -> None:
    bot = a_bot(tenant)
    claim = index(tenant, key_of(bot), "Zebras.")
    ref = ChunkRef(claim.document_id, claim.generation, 0)
    chunks = PostgresChunks(tenant)
    chunks.write_sentences(bot.user_id, bot.id, [(ref, [unit(1)])])
    index(tenant, key_of(bot), "Lions.")
    chunks.discard(claim)
    chunks.write_sentences(bot.user_id, bot.id, [(ref, [unit(1)])])  # by a worker that was slower
    with psycopg.connect(database.owner) as owner:
        assert owner.execute("select count(*) from chunk_sentences where bot_id = %s", (bot.id,)).fetchone() == (0,)


def test_the_shortlist_holds_the_best_by_meaning_and_words(tenant: Database) -> None:
    bot = a_bot(tenant)
    claim = index(tenant, key_of(bot), "A zebra in Kenya.", "A zebra.", "An elephant.", "A lion.")
    hits = [
        Hit(ChunkRef(claim.document_id, claim.generation, ordinal), score)
        for ordinal, score in ((1, 0.5), (2, 0.9), (3, 0.55))
    ]
    short = found(tenant, bot, "zebra in Kenya", hits, limit=2)
    assert {one.text for one in short} == {"An elephant.", "A zebra in Kenya."}


AWKWARD = [
    "",
    "   ",
    "'",
    "'' & | !",
    ":*",
    "a:*b & !",
    "\\",
    "((((",
    '"',
    '" or or',
    "-",
    "<->",
    "🙂",
    "the of and",
    "%s %(x)s",
]


@pytest.mark.parametrize("text", AWKWARD)
def test_no_query_makes_lexical_search_raise(tenant: Database, text: str) -> None:
    bot = a_bot(tenant)
    index(tenant, key_of(bot), 'some text, it\'s "quoted" a:b c-d e@f.gh http://x.y/z?q=1')
    found(tenant, bot, text)


@given(text=st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="\x00"), max_size=300))
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_text_at_all_makes_lexical_search_raise(tenant: Database, text: str) -> None:
    user, bot = UserId(uuid4()), BotId(uuid4())
    PostgresChunks(tenant).search(user, bot, text, [], vector=None, lexical_limit=10, limit=10)


def test_claims_that_a_worker_never_gave_back_expire(
    tenant: Database, worker: Database, database: TestDatabase
) -> None:
    bot = a_bot(tenant)
    index(tenant, key_of(bot), "text")
    claim = claimed(tenant, key_of(bot))
    fresh = claimed(tenant, key_of(bot, "fresh.txt"))
    with psycopg.connect(database.owner, autocommit=True) as owner:
        owner.execute("update documents set claimed_at = now() - interval '2 h' where id = %s", (claim.document_id,))
    assert PostgresMaintenance(worker).expire_claims(older_than=timedelta(hours=1)) == 1
    lost = PostgresDocuments(tenant).get(bot.user_id, bot.id, claim.document_id)
    kept = PostgresDocuments(tenant).get(bot.user_id, bot.id, fresh.document_id)
    assert lost is not None
    assert kept is not None
    assert (lost.status, lost.reason, kept.status) == (
        DocumentStatus.FAILED,
        Reason.WORKER_LOST,
        DocumentStatus.PROCESSING,
    )
    assert found(tenant, bot, "text") == []
    assert not PostgresDocuments(tenant).activate(claim, INFO, chunks=0, truncated=0, title=None)


def test_uploads_that_never_came_expire_and_those_that_did_do_not(
    tenant: Database, worker: Database, database: TestDatabase
) -> None:
    bot = a_bot(tenant)
    documents = PostgresDocuments(tenant)
    announced = documents.announce(key_of(bot), content_type="text/plain", size=3)
    index(tenant, key_of(bot, "came.txt"), "text")
    with psycopg.connect(database.owner, autocommit=True) as owner:
        owner.execute("update documents set created_at = now() - interval '3 h'")
    assert PostgresMaintenance(worker).expire_uploads(older_than=timedelta(hours=2)) == 1
    expired = documents.get(bot.user_id, bot.id, announced.id)
    assert expired is not None
    assert expired.reason is Reason.UPLOAD_EXPIRED


def test_announcing_a_document_again_leaves_its_answers_alone(tenant: Database) -> None:
    bot = a_bot(tenant)
    index(tenant, key_of(bot), "text")
    again = PostgresDocuments(tenant).announce(key_of(bot), content_type="text/plain", size=9)
    assert again.status is DocumentStatus.INDEXED
    assert len(found(tenant, bot, "text")) == 1


def test_a_common_lexeme_is_left_out_only_where_it_would_match_more_than_is_counted(
    tenant: Database, worker: Database, database: TestDatabase
) -> None:
    bot, small = a_bot(tenant), a_bot(tenant)
    seldom = dict.fromkeys(range(0, 1500, 75), "seldom")  # in 20 chunks: a common lexeme by its share
    index(tenant, key_of(bot), *[f"everywhere {seldom.get(number, '')} number{number}" for number in range(1_500)])
    index(tenant, key_of(small), "everywhere")
    with psycopg.connect(database.owner, autocommit=True) as owner:
        owner.execute("analyze chunks")
    assert PostgresMaintenance(worker).refresh_statistics() >= 2
    assert len(found(tenant, bot, "seldom")) == 10
    assert found(tenant, bot, "everywhere") == []
    assert len(found(tenant, small, "everywhere")) == 1


def a_record(bot: Bot, status: QueryStatus = QueryStatus.ANSWERED, latency_ms: float = 10.0) -> QueryRecord:
    query = Query(uuid4(), bot.user_id, bot.id, "client", "question?")
    return QueryRecord(
        query=query,
        intent=Intent.INFORMATION_RETRIEVAL,
        processing_type=ProcessingType.RAG,
        status=status,
        latency_ms=latency_ms,
        stage_ms={"embed": 1.0},
        best_relevance=0.5,
        degraded={"llm": "llm_not_configured"},
    )


def test_statistics_sum_a_window_up_and_recording_twice_counts_once(tenant: Database) -> None:
    bot = a_bot(tenant)
    queries = PostgresQueries(tenant)
    once = a_record(bot, latency_ms=10)
    for record in (once, once, a_record(bot, QueryStatus.ABSTAINED, 30)):
        queries.record(record)
    now = datetime.now(UTC)
    hour = timedelta(hours=1)
    summed = queries.statistics(bot.user_id, bot.id, since=now - hour, until=now + hour)
    assert (summed.total, summed.by_status, summed.degraded) == (2, {"answered": 1, "abstained": 1}, 2)
    assert (summed.latency_p50_ms, summed.mean_relevance) == (pytest.approx(20), pytest.approx(0.5))
    assert queries.statistics(bot.user_id, bot.id, since=now + hour, until=now + hour).total == 0
    assert queries.statistics(UserId(uuid4()), bot.id, since=now - hour, until=now + hour).total == 0
