"""From an event in the bucket to chunks that answers may quote, whatever order events arrive in.

An event is only a hint: after claiming the document a worker asks the bucket what lies under the key *now*. Later
claims read later states, and only the latest claim may change what is visible; so replays, reordering and workers
that die at any line converge on what the bucket holds.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from botforge.domain.chunk import Chunk
from botforge.domain.chunking import chunk_blocks
from botforge.domain.document import DocumentStatus, ObjectInfo
from botforge.domain.errors import (
    DocumentError,
    DocumentFailed,
    DocumentRejected,
    InvalidRequest,
    NotFound,
    VectorIndexUnavailable,
)
from botforge.domain.ids import ChunkRef, ObjectKey
from botforge.domain.ingestion import (
    MAX_CHUNKS,
    MAX_CHUNKS_WITH_SENTENCES,
    MAX_DOCUMENT_BYTES,
    IngestionResult,
    ObjectEvent,
    Outcome,
)
from botforge.domain.naming import checked_path
from botforge.domain.reasons import Reason
from botforge.domain.work import Claim
from botforge.ports.clock import Clock
from botforge.ports.embedding import Embedder, Tokenizer
from botforge.ports.extraction import Extractor
from botforge.ports.objects import ObjectStore
from botforge.ports.repositories import Chunks, Documents
from botforge.ports.vectors import VectorIndex
from botforge.services.chunk_embedding import chunk_vectors

_VISIBILITY_POLLS = 30
_VISIBILITY_PAUSE_S = 1.0
_EMBEDDING_BATCH = 256  # bounds the vectors in memory; the embedder makes its own batches inside


@dataclass(frozen=True, slots=True)
class IngestionService:
    documents: Documents
    chunks: Chunks
    vectors: VectorIndex
    objects: ObjectStore
    extractor: Extractor
    embedder: Embedder
    tokenizer: Tokenizer
    clock: Clock
    pause: Callable[[float], None] = time.sleep

    def handle(self, event: ObjectEvent, *, last_attempt: bool = False) -> IngestionResult:
        """Bring the document under the event's key in line with the bucket.

        Raises what should be tried again (Unavailable, or anything unforeseen); on ``last_attempt`` the document is
        marked ``failed`` before. Everything else is an outcome.
        """
        result = self._handle(event, last_attempt=last_attempt)
        lag = (self.clock.now() - event.event_time).total_seconds() if event.event_time else None
        return replace(result, lag_seconds=lag, correlation_id=result.correlation_id or event.request_id)

    def _handle(self, event: ObjectEvent, *, last_attempt: bool) -> IngestionResult:
        try:
            key = ObjectKey.parse(event.key)
        except ValueError:
            return IngestionResult(Outcome.IGNORED, "invalid_key")
        try:
            claim = self.documents.claim(key, sequencer=event.sequencer, correlation_id=event.request_id)
        except NotFound:
            return IngestionResult(Outcome.IGNORED, "unknown_bot")
        if claim is None:
            return IngestionResult(Outcome.STALE)
        try:
            result = self._reconcile(claim)
        except Exception:
            if last_attempt:
                self._end(claim, None, DocumentFailed(Reason.RETRIES_EXHAUSTED, "Every attempt to read it failed."))
            else:
                self.documents.release(claim, "A passing fault; it will be tried again.")
            raise
        self._drop_old_vectors(claim, result)
        return result

    def _reconcile(self, claim: Claim) -> IngestionResult:
        info = self.objects.head(claim.key)
        if info is None:
            return self._result(claim, Outcome.REMOVED if self.documents.remove(claim) else Outcome.SUPERSEDED, None)
        if claim.active_generation is not None and claim.active_etag == info.etag:
            done = self.documents.unchanged(claim)
            return self._result(claim, Outcome.UNCHANGED if done else Outcome.SUPERSEDED, info)
        try:
            return self._index(claim, info)
        except DocumentError as error:
            return self._end(claim, info, error)

    def _index(self, claim: Claim, info: ObjectInfo) -> IngestionResult:
        found = self._read(claim.key, info)
        if found is None:  # deleted since we asked; its own event is on the way
            return self._result(claim, Outcome.REMOVED if self.documents.remove(claim) else Outcome.SUPERSEDED, None)
        info, body = found
        extracted = self.extractor.extract(body, filename=claim.key.filename, content_type=info.content_type)
        chunks = chunk_blocks(extracted, self.tokenizer.spans, max_chunks=MAX_CHUNKS)
        if not chunks:
            raise DocumentFailed(Reason.EMPTY, "There is no text in this document.")
        self.chunks.write(claim, chunks)
        truncated = self._write_vectors(claim, chunks)
        if not self.documents.activate(claim, info, chunks=len(chunks), truncated=truncated, title=extracted.title):
            self.chunks.discard(claim)
            return self._result(claim, Outcome.SUPERSEDED, info)
        return replace(self._result(claim, Outcome.INDEXED, info), chunks=len(chunks), truncated=truncated)

    def _read(self, key: ObjectKey, info: ObjectInfo) -> tuple[ObjectInfo, bytes] | None:
        try:
            checked_path(key.path)
        except InvalidRequest as error:
            raise DocumentRejected(Reason.INVALID_NAME, error.message) from error
        if info.size > MAX_DOCUMENT_BYTES:
            raise DocumentRejected(Reason.TOO_LARGE, f"It is larger than {MAX_DOCUMENT_BYTES} bytes.")
        if info.size == 0:
            raise DocumentFailed(Reason.EMPTY, "The file is empty.")
        return self.objects.get(key, max_bytes=MAX_DOCUMENT_BYTES)

    def _write_vectors(self, claim: Claim, chunks: Sequence[Chunk]) -> int:
        """Embed and store; returns how many chunks the model saw only in part. Waits until all can be found."""
        truncated, owner, bot = 0, claim.key.user_id, claim.key.bot_id
        with_sentences = len(chunks) <= MAX_CHUNKS_WITH_SENTENCES
        refs = [ChunkRef(claim.document_id, claim.generation, chunk.ordinal) for chunk in chunks]
        for start in range(0, len(chunks), _EMBEDDING_BATCH):
            batch = slice(start, start + _EMBEDDING_BATCH)
            embedded = chunk_vectors(self.embedder, chunks[batch], with_sentences=with_sentences)
            truncated += sum(one.truncated for one in embedded)
            paired = list(zip(refs[batch], embedded, strict=True))
            if with_sentences:
                self.chunks.write_sentences(owner, bot, [(ref, one.sentences) for ref, one in paired])
            self.vectors.upsert(owner, bot, [(ref, one.vector) for ref, one in paired])
        self._await_visible(claim, refs)
        return truncated

    def _await_visible(self, claim: Claim, refs: Sequence[ChunkRef]) -> None:
        missing: Sequence[ChunkRef] = refs
        for attempt in range(_VISIBILITY_POLLS):
            missing = list(self.vectors.missing(claim.key.user_id, claim.key.bot_id, missing))
            if not missing:
                return
            if attempt + 1 < _VISIBILITY_POLLS:
                self.pause(_VISIBILITY_PAUSE_S)
        raise VectorIndexUnavailable(f"{len(missing)} vectors were written and still cannot be found.")

    def _end(self, claim: Claim, info: ObjectInfo | None, error: DocumentError) -> IngestionResult:
        rejected = isinstance(error, DocumentRejected)
        status = DocumentStatus.REJECTED if rejected else DocumentStatus.FAILED
        held = self.documents.reject(claim, info, status, error.reason, error.message)
        outcome = Outcome.SUPERSEDED if not held else Outcome.REJECTED if rejected else Outcome.FAILED
        return replace(self._result(claim, outcome, info), reason=error.reason.value)

    def _drop_old_vectors(self, claim: Claim, result: IngestionResult) -> None:
        """Clean the index after the fact. A fault here is tried again: leftovers are never quoted, but they take up
        places among the nearest neighbours."""
        match result.outcome:
            case Outcome.INDEXED:
                keep = claim.generation
            case Outcome.UNCHANGED:
                keep = claim.active_generation
            case Outcome.REMOVED | Outcome.REJECTED | Outcome.FAILED:
                keep = None
            case _:  # somebody else's to clean
                return
        self.vectors.delete_generations(claim.key.user_id, claim.key.bot_id, claim.document_id, keep=keep)

    @staticmethod
    def _result(claim: Claim, outcome: Outcome, info: ObjectInfo | None) -> IngestionResult:
        return IngestionResult(
            outcome, document_id=claim.document_id, correlation_id=info.correlation_id if info else None
        )
