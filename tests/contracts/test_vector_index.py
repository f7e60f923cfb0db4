"""What every VectorIndex keeps to: pgvector, Pinecone over HTTP (prompt and late), and the fake of other tests."""

import math
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from uuid import UUID, uuid4

import pytest
from tests.fakes.vectors import InMemoryVectorIndex

from botforge.adapters.postgres.database import Database
from botforge.adapters.vectors.pgvector import PgVectorIndex
from botforge.adapters.vectors.pinecone import PineconeIndex
from botforge.domain.chunk import Hit
from botforge.domain.deadline import Deadline
from botforge.domain.errors import DeadlineExceeded, VectorIndexUnavailable
from botforge.domain.ids import BotId, ChunkRef, DocumentId, UserId
from botforge.ports.embedding import Vector
from botforge.ports.vectors import VectorIndex
from botforge_dev.fakes.pinecone_server import API_KEY, pinecone_server

DIMENSION = 384
TOLERANCE = 2e-3  # half precision is what pgvector keeps
POLLS = 20  # more than any adapter here needs to show a write

USER = UserId(UUID(int=1))


@dataclass(frozen=True, slots=True)
class Namespace:
    """One bot's namespace of an index, spoken to as the services do."""

    index: VectorIndex
    user: UserId
    bot: BotId

    def write(self, vectors: Sequence[tuple[ChunkRef, Vector]]) -> None:
        """Upsert, and wait as ingestion does until all can be found."""
        self.index.upsert(self.user, self.bot, vectors)
        missing = [ref for ref, _ in vectors]
        for _ in range(POLLS):
            missing = list(self.index.missing(self.user, self.bot, missing))
            if not missing:
                return
        raise AssertionError(f"{len(missing)} vectors cannot be found after {POLLS} polls")

    def ask(self, vector: Vector, *, top_k: int = 100, documents: Sequence[DocumentId] = ()) -> list[Hit]:
        deadline = Deadline.after(30)
        return self.index.query(self.user, self.bot, vector, top_k=top_k, document_ids=documents, deadline=deadline)

    def refs(self, *, top_k: int = 100) -> list[ChunkRef]:
        return [hit.ref for hit in self.ask(axis(0), top_k=top_k)]

    def await_refs(self, expected: set[ChunkRef]) -> None:
        """Wait for deletes to show."""
        found: set[ChunkRef] = set()
        for _ in range(POLLS):
            found = set(self.refs())
            if found == expected:
                return
        assert found == expected


def pinecone(*, lag: int) -> Iterator[PineconeIndex]:
    with pinecone_server(lag=lag) as server, closing(PineconeIndex(api_key=API_KEY, host=server.url)) as index:
        yield index


@pytest.fixture(scope="module")
def prompt_pinecone() -> Iterator[PineconeIndex]:
    yield from pinecone(lag=0)


@pytest.fixture(scope="module")
def late_pinecone() -> Iterator[PineconeIndex]:
    yield from pinecone(lag=3)


@pytest.fixture(params=["memory", "pgvector", "pinecone", "pinecone-late"])
def index(request: pytest.FixtureRequest) -> VectorIndex:
    """Shared with other tests where it is Pinecone: each test speaks to namespaces of its own."""
    match request.param:
        case "memory":
            return InMemoryVectorIndex()
        case "pgvector":
            return PgVectorIndex(request.getfixturevalue("worker"))
        case "pinecone":
            return request.getfixturevalue("prompt_pinecone")
        case _:
            return request.getfixturevalue("late_pinecone")


@pytest.fixture(params=["memory", "pgvector", "pinecone"])
def dead(request: pytest.FixtureRequest) -> VectorIndex:
    """An index whose server is not there."""
    match request.param:
        case "memory":
            return InMemoryVectorIndex(unavailable=True)
        case "pgvector":
            return PgVectorIndex(Database("postgresql://nobody@127.0.0.1:1/nothing"))
        case _:
            with pinecone_server() as server:
                url = server.url
            return PineconeIndex(api_key=API_KEY, host=url, request_timeout=0.5)


@pytest.fixture
def bot(index: VectorIndex) -> Namespace:
    return Namespace(index, USER, BotId(uuid4()))


@pytest.fixture
def other_bot(index: VectorIndex) -> Namespace:
    return Namespace(index, UserId(uuid4()), BotId(uuid4()))


def document() -> DocumentId:
    return DocumentId(uuid4())


def axis(number: int) -> list[float]:
    return [1.0 if place == number else 0.0 for place in range(DIMENSION)]


def between(cosine: float, number: int = 1) -> list[float]:
    """A unit vector at this cosine to the first axis, in the plane of another."""
    vector = [0.0] * DIMENSION
    vector[0], vector[number] = cosine, math.sqrt(1 - cosine**2)
    return vector


def chunks(of: DocumentId, count: int, *, generation: int = 1) -> list[tuple[ChunkRef, Vector]]:
    """Chunks at falling cosines to the first axis."""
    return [(ChunkRef(of, generation, each), between(1 - each / count)) for each in range(count)]


def pair(number: int) -> list[float]:
    """One of 2,500 unit vectors, no two of them nearer than a cosine of a half."""
    vector = [0.0] * DIMENSION
    vector[number // 50] = vector[50 + number % 50] = math.sqrt(0.5)
    return vector


# ---------------------------------------------------------------- finding


def test_hits_come_nearest_first_and_their_scores_are_cosines(bot: Namespace) -> None:
    of = document()
    cosines = [0.3, -0.6, 1.0, 0.0, 0.9]
    bot.write([(ChunkRef(of, 1, place), between(cosine)) for place, cosine in enumerate(cosines)])

    hits = bot.ask(axis(0))

    assert [hit.ref.ordinal for hit in hits] == [2, 4, 0, 3, 1]
    assert [hit.score for hit in hits] == pytest.approx(sorted(cosines, reverse=True), abs=TOLERANCE)


@pytest.mark.parametrize("top_k", [1, 4, 10, 11, 10_000, 20_000])
def test_top_k_bounds_the_hits(bot: Namespace, top_k: int) -> None:
    written = chunks(document(), 10)
    bot.write(written)

    assert bot.refs(top_k=top_k) == [ref for ref, _ in written[:top_k]]


def test_an_empty_namespace_has_no_hits(bot: Namespace) -> None:
    assert bot.refs() == []


def test_only_chosen_documents_are_searched(bot: Namespace) -> None:
    first, second, third = document(), document(), document()
    for of in (first, second, third):
        bot.write(chunks(of, 3))

    hits = bot.ask(axis(0), documents=(first, third))

    assert {hit.ref.document_id for hit in hits} == {first, third}
    assert len(hits) == 6
    assert bot.ask(axis(0), documents=(document(),)) == []


def test_a_chosen_document_is_found_behind_a_hundred_nearer_ones(bot: Namespace) -> None:
    near, far = document(), document()
    bot.write(chunks(near, 100))
    wanted = ChunkRef(far, 1, 0)
    bot.write([(wanted, between(-0.9))])

    assert [hit.ref for hit in bot.ask(axis(0), top_k=1, documents=(far,))] == [wanted]


# ---------------------------------------------------------------- tenants


def test_bots_with_the_same_vectors_see_only_their_own(bot: Namespace, other_bot: Namespace) -> None:
    mine, theirs = chunks(document(), 5), chunks(document(), 5)
    bot.write(mine)
    other_bot.write(theirs)

    assert bot.refs() == [ref for ref, _ in mine]
    assert other_bot.refs() == [ref for ref, _ in theirs]
    assert bot.ask(axis(0), documents=(theirs[0][0].document_id,)) == []
    assert bot.index.missing(bot.user, bot.bot, [theirs[0][0]]) == {theirs[0][0]}


def test_deleting_in_one_namespace_leaves_the_other_alone(bot: Namespace, other_bot: Namespace) -> None:
    mine, theirs = chunks(document(), 3), chunks(document(), 3)
    bot.write(mine)
    other_bot.write(theirs)

    bot.index.delete_generations(bot.user, bot.bot, theirs[0][0].document_id, keep=None)
    bot.index.delete_namespace(bot.user, bot.bot)

    bot.await_refs(set())
    for _ in range(POLLS):
        assert other_bot.refs() == [ref for ref, _ in theirs]


# ---------------------------------------------------------------- writing


def test_writing_the_same_again_changes_nothing(bot: Namespace) -> None:
    written = chunks(document(), 5)
    for _ in range(3):
        bot.write(written)

    assert bot.refs() == [ref for ref, _ in written]


def test_writing_under_the_same_id_replaces_the_vector(bot: Namespace) -> None:
    ref = ChunkRef(document(), 1, 0)
    bot.write([(ref, axis(5))])
    bot.write([(ref, axis(0))])

    scores = [bot.ask(axis(0))[0].score for _ in range(POLLS)]

    assert scores[-1] == pytest.approx(1, abs=TOLERANCE)


def test_writing_nothing_is_no_error(bot: Namespace) -> None:
    bot.index.upsert(bot.user, bot.bot, [])

    assert bot.index.missing(bot.user, bot.bot, []) == frozenset()


def test_thousands_of_vectors_go_in_and_are_found(bot: Namespace) -> None:
    of = document()
    written: list[tuple[ChunkRef, Vector]] = [(ChunkRef(of, 1, each), pair(each)) for each in range(2_500)]

    bot.write(written)

    for ref, vector in written[::500]:
        assert bot.ask(vector, top_k=1)[0].ref == ref
    bot.index.delete_generations(bot.user, bot.bot, of, keep=None)
    bot.await_refs(set())


# ---------------------------------------------------------------- what is missing, and what is deleted


def test_missing_are_exactly_those_that_were_not_written(bot: Namespace) -> None:
    written = chunks(document(), 3)
    never = [ChunkRef(document(), 1, 0), ChunkRef(written[0][0].document_id, 2, 0)]
    assert bot.index.missing(bot.user, bot.bot, never) == set(never)

    bot.write(written)

    assert bot.index.missing(bot.user, bot.bot, [ref for ref, _ in written] + never) == set(never)


@pytest.mark.parametrize("keep", [1, 10, None])
def test_generations_other_than_the_kept_one_are_deleted(bot: Namespace, keep: int | None) -> None:
    of, other = document(), document()
    generations = {number: chunks(of, 3, generation=number) for number in (1, 2, 10, 11)}
    untouched = chunks(other, 2)
    for written in (*generations.values(), untouched):
        bot.write(written)

    bot.index.delete_generations(bot.user, bot.bot, of, keep=keep)

    left = generations[keep] if keep is not None else []
    bot.await_refs({ref for ref, _ in [*left, *untouched]})
    gone = [ref for number, written in generations.items() if number != keep for ref, _ in written]
    assert bot.index.missing(bot.user, bot.bot, gone) == set(gone)


def test_deleting_what_is_not_there_is_no_error(bot: Namespace) -> None:
    bot.index.delete_generations(bot.user, bot.bot, document(), keep=None)
    bot.index.delete_namespace(bot.user, bot.bot)
    bot.write(chunks(document(), 1))

    bot.index.delete_generations(bot.user, bot.bot, document(), keep=3)

    assert len(bot.refs()) == 1


def test_a_deleted_namespace_can_be_filled_again(bot: Namespace) -> None:
    bot.write(chunks(document(), 3))
    bot.index.delete_namespace(bot.user, bot.bot)
    again = chunks(document(), 2)

    bot.write(again)

    bot.await_refs({ref for ref, _ in again})


# ---------------------------------------------------------------- threads, time and failure


def test_two_threads_write_and_read_at_once(bot: Namespace, other_bot: Namespace) -> None:
    failures: list[BaseException] = []

    def work(namespace: Namespace) -> None:
        try:
            written = chunks(document(), 20)
            for start in range(0, 20, 5):
                namespace.write(written[start : start + 5])
            assert namespace.refs() == [ref for ref, _ in written]
        except BaseException as error:  # noqa: BLE001 - raised by the test below
            failures.append(error)

    threads = [threading.Thread(target=work, args=(each,)) for each in (bot, other_bot)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert failures == []


def test_a_passed_deadline_is_told_from_an_absent_hit(bot: Namespace) -> None:
    bot.write(chunks(document(), 1))

    with pytest.raises(DeadlineExceeded):
        bot.index.query(bot.user, bot.bot, axis(0), top_k=1, deadline=Deadline.after(0))
    with pytest.raises(DeadlineExceeded):
        bot.index.ping(Deadline.after(0))


def test_an_index_that_answers_is_alive(index: VectorIndex) -> None:
    index.ping(Deadline.after(30))


def _calls(index: VectorIndex) -> list[Callable[[], object]]:
    bot, of = BotId(UUID(int=2)), DocumentId(UUID(int=3))
    ref = ChunkRef(of, 1, 0)
    return [
        lambda: index.upsert(USER, bot, [(ref, axis(0))]),
        lambda: index.query(USER, bot, axis(0), top_k=1, deadline=Deadline.after(0.5)),
        lambda: index.missing(USER, bot, [ref]),
        lambda: index.delete_generations(USER, bot, of, keep=None),
        lambda: index.delete_namespace(USER, bot),
        lambda: index.ping(Deadline.after(0.5)),
    ]


def test_a_dead_index_is_unavailable_whatever_it_is_asked(dead: VectorIndex) -> None:
    for call in _calls(dead):
        with pytest.raises(VectorIndexUnavailable):
            call()
