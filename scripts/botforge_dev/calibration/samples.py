"""What the product's own search finds for questions, asked of documents that answer them and of others."""

import json
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

import psycopg
from psycopg import sql
from psycopg.conninfo import make_conninfo

from botforge.adapters.embedding.onnx import OnnxEmbedder
from botforge.adapters.extract.html import read
from botforge.adapters.postgres.bots import PostgresBots
from botforge.adapters.postgres.chunks import PostgresChunks
from botforge.adapters.postgres.database import Database
from botforge.adapters.postgres.documents import PostgresDocuments
from botforge.adapters.postgres.migrate import migrate
from botforge.adapters.vectors.pgvector import PgVectorIndex
from botforge.domain.bot import Bot
from botforge.domain.chunk import Candidate, Chunk
from botforge.domain.chunking import chunk_blocks
from botforge.domain.deadline import Deadline
from botforge.domain.document import ObjectInfo
from botforge.domain.ids import BotId, ChunkRef, ObjectKey, UserId
from botforge.ports.embedding import Vector
from botforge.services.chunk_embedding import ChunkVectors, chunk_vectors
from botforge_dev.evaluation.datasets import LabelledPassage, LabelledQuestion, QuestionSet
from botforge_dev.evaluation.suites.pages import as_document

LIMIT = 50  # candidates of either search, as in services/retrieval.py
_FOREIGN = 150  # questions of a set that are asked of each other set's documents
_ALONE = 100  # questions of a set that are asked of bots with one document


@dataclass(frozen=True, slots=True)
class Found:
    """A candidate of the search, as far as ranking knows it."""

    document: str  # id of the labelled passage
    cosine: float | None
    coverage: float
    lexical_rank: int | None
    sentence: float | None  # cosine of the nearest sentence


@dataclass(frozen=True, slots=True)
class Sample:
    """A question, the documents that it was asked of, and what was found."""

    question_set: str
    asked_of: str  # a set's name; "one" and "other": bots that hold only the gold document, only another one
    gold: str | None  # None: the documents do not answer it
    found: tuple[Found, ...]


Piece = tuple[Chunk, ChunkVectors]


def load(file: Path) -> list[Sample]:
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    return [
        Sample(row["question_set"], row["asked_of"], row["gold"], tuple(Found(**found) for found in row["found"]))
        for row in rows
    ]


def save(samples: Sequence[Sample], file: Path) -> None:
    file.write_text("".join(json.dumps(asdict(sample)) + "\n" for sample in samples), encoding="utf-8")


@dataclass(frozen=True, slots=True)
class Laboratory:
    """A database with a bot for each set, searched as the product searches."""

    database: Database
    embedder: OnnxEmbedder
    report: Callable[[str], None]
    user: UserId

    @classmethod
    def in_database(cls, owner: str, model_dir: Path, report: Callable[[str], None]) -> "Laboratory":
        """Migrates the database of the DSN ``owner``, which must be empty, and works in it as a tenant would."""
        migrate(owner)
        with psycopg.connect(owner, autocommit=True) as connection:
            statement = sql.SQL("create role calibration login password 'calibration' in role botforge_tenant")
            connection.execute(statement)
        tenant = make_conninfo(owner, user="calibration", password="calibration")  # noqa: S106 - lives for minutes
        return cls(Database(tenant, statement_timeout_ms=60_000), OnnxEmbedder(model_dir), report, UserId(uuid4()))

    def samples(self, sets: Sequence[QuestionSet], *, alone: bool = True) -> Iterator[Sample]:
        """Every set's questions, asked of its own documents and of others'; ``alone``: of bots of one document, too."""
        pieces = {data.name: self._pieces(data) for data in sets}
        bots = {name: self._bot(name, of) for name, of in pieces.items()}
        for data in sets:
            questions = list(data.questions)
            random.Random(0).shuffle(questions)  # noqa: S311 - a sample, not a secret
            vectors = [embedding.vector for embedding in self.embedder.embed([one.text for one in questions])]
            asked = list(zip(questions, vectors, strict=True))
            self.report(f"{data.name}: {len(asked)} questions")
            for other in sets:
                own = other.name == data.name
                for question, vector in asked if own else asked[:_FOREIGN]:
                    (gold,) = question.gold
                    found = self._search(bots[other.name], question.text, vector)
                    yield Sample(data.name, other.name, gold if own else None, found)
            if alone:
                yield from self._alone(data, asked[:_ALONE], pieces[data.name])

    def asked(self, data: QuestionSet) -> Callable[[Sequence[str]], Iterator[tuple[Found, ...]]]:
        """Index a set's passages; what is returned asks them texts, and yields what was found for each in turn."""
        bot = self.indexed(data)

        def ask(texts: Sequence[str]) -> Iterator[tuple[Found, ...]]:
            for text, embedding in zip(texts, self.embedder.embed(texts), strict=True):
                yield self._search(bot, text, embedding.vector)

        return ask

    def indexed(self, data: QuestionSet) -> BotId:
        """A bot that holds a set's passages, each as a document that is called by its id."""
        return self._bot(data.name, self._pieces(data))

    def candidates(self, bot: BotId, text: str, vector: Vector) -> list[Candidate]:
        """What the product would rank, before it is short-listed."""
        index = PgVectorIndex(self.database)
        hits = index.query(self.user, bot, vector, top_k=LIMIT, deadline=Deadline.after(60))
        chunks = PostgresChunks(self.database)
        return chunks.search(self.user, bot, text, hits, vector=vector, lexical_limit=LIMIT, limit=2 * LIMIT)

    def _alone(
        self,
        data: QuestionSet,
        asked: Sequence[tuple[LabelledQuestion, Vector]],
        pieces: Mapping[str, Sequence[Piece]],
    ) -> Iterator[Sample]:
        """Ask bots of one document: that which answers, and that of the next question if it is another one."""
        bots: dict[str, BotId] = {}
        golds = [next(iter(question.gold)) for question, _ in asked]
        for (question, vector), gold, other in zip(asked, golds, [*golds[1:], golds[0]], strict=True):
            for name, document in (("one", gold), ("other", other)):
                if name == "other" and document == gold:
                    continue
                if document not in bots:
                    bots[document] = self._bot(f"{data.name} {document}", {document: pieces[document]})
                found = self._search(bots[document], question.text, vector)
                yield Sample(data.name, name, gold if name == "one" else None, found)

    def _pieces(self, data: QuestionSet) -> dict[str, list[Piece]]:
        self.report(f"{data.name}: embedding {len(data.passages)} documents")
        return {passage.id: self._embedded(passage) for passage in data.passages}

    def _embedded(self, passage: LabelledPassage) -> list[Piece]:
        chunks = chunk_blocks(read(as_document(passage, 0).body), self.embedder.spans)
        return list(zip(chunks, chunk_vectors(self.embedder, chunks, with_sentences=True), strict=True))

    def _bot(self, name: str, documents: Mapping[str, Sequence[Piece]]) -> BotId:
        now = datetime.now(UTC)
        bot = PostgresBots(self.database).create(
            Bot(BotId(uuid4()), self.user, name, "", is_active=True, max_chunks=5, similarity_threshold=0.0,
                created_at=now, updated_at=now)
        )  # fmt: skip
        repository = PostgresDocuments(self.database)
        for document, pieces in documents.items():
            claim = repository.claim(ObjectKey(self.user, bot.id, document), sequencer=None, correlation_id=None)
            if claim is None:
                raise ValueError(f"Two passages have the id {document}.")
            PostgresChunks(self.database).write(claim, [chunk for chunk, _ in pieces])
            paired = [(ChunkRef(claim.document_id, claim.generation, chunk.ordinal), to) for chunk, to in pieces]
            sentences = [(ref, to.sentences) for ref, to in paired]
            PostgresChunks(self.database).write_sentences(self.user, bot.id, sentences)
            PgVectorIndex(self.database).upsert(self.user, bot.id, [(ref, to.vector) for ref, to in paired])
            info = ObjectInfo(size=1, content_type="text/html", etag="e", version_id=None, correlation_id=None)
            repository.activate(claim, info, chunks=len(pieces), truncated=0, title=None)
        return bot.id

    def _search(self, bot: BotId, text: str, vector: Vector) -> tuple[Found, ...]:
        return tuple(
            Found(one.path, one.cosine, one.lexical_coverage, one.lexical_rank, max(one.sentence_cosines, default=None))
            for one in sorted(self.candidates(bot, text, vector), key=lambda one: str(one.ref))
        )
