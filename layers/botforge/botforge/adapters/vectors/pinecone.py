"""The vector index on Pinecone: a serverless index of metric cosine, one namespace a bot, ids only.

Limits are those of "Pinecone Database limits" in Pinecone's documentation; only this module imports the SDK.
"""

import json
import weakref
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, TypeVar

import httpx
from pinecone import Index
from pinecone.errors.exceptions import ApiError, NotFoundError, PineconeError

from botforge.adapters.overdue import Calls, Overdue
from botforge.domain.chunk import Hit
from botforge.domain.deadline import Deadline
from botforge.domain.errors import VectorIndexUnavailable
from botforge.domain.ids import BotId, ChunkRef, DocumentId, UserId
from botforge.ports.embedding import Vector

_MAX_RECORDS = 1_000  # of an upsert
_MAX_UPSERT_BYTES = 2_000_000 - 1_000  # 2 MB a request, less what stands around the records
_MAX_TOP_K = 10_000
_MAX_DELETED_IDS = 1_000
_FETCHED_IDS = 100  # of the 1,000 allowed: they travel in the URL, and gateways on the way cut URLs at 8 KB
_ATTEMPT_TIMEOUT_S = 5.0  # of each of the SDK's four attempts, so that one lost packet leaves time for another
_REQUEST_TIMEOUT_S = 30.0  # for a request that comes without a deadline, retries included
_MAX_CALLS = 16  # at once, those included whose deadline has passed and that have not noticed yet

T = TypeVar("T")


class PineconeIndex:
    """VectorIndex over the Pinecone SDK.

    The SDK retries each request three times (connection errors, 408, 429, 5xx), and waits for up to 90 s in between if
    the service asks it to; its timeouts bound single reads of single attempts. So every request runs beside its
    caller, who leaves at the deadline. A request that is left behind can only repeat what it was asked: every write is
    idempotent, and ids of a generation are never used again.

    Serverless indexes refuse deletes by metadata, so a document's vectors are found by the prefix of their ids.
    """

    def __init__(self, *, api_key: str, host: str, request_timeout: float = _REQUEST_TIMEOUT_S) -> None:
        """``host`` is the index's own, with or without ``https://``; ``request_timeout`` is in seconds.

        Raises ValueError for a key that no header can hold.
        """
        self._index = Index(api_key=api_key.strip(), host=host, timeout=_ATTEMPT_TIMEOUT_S)
        self._request_timeout = request_timeout
        self._calls = Calls("pinecone-call", limit=_MAX_CALLS)
        self._close = weakref.finalize(self, self._index.close)

    def close(self) -> None:
        """Free the connections. The index cannot be used afterwards."""
        self._close()

    def upsert(self, user_id: UserId, bot_id: BotId, vectors: Sequence[tuple[ChunkRef, Vector]]) -> None:  # noqa: ARG002
        namespace = str(bot_id)
        for batch in _batches(map(_record, vectors)):
            self._request(
                lambda timeout, batch=batch: self._index.upsert(vectors=batch, namespace=namespace, timeout=timeout)
            )

    def query(
        self,
        user_id: UserId,  # noqa: ARG002
        bot_id: BotId,
        vector: Vector,
        *,
        top_k: int,
        document_ids: Collection[DocumentId] = (),
        deadline: Deadline,
    ) -> list[Hit]:
        deadline.check()
        values = [float(value) for value in vector]
        chosen = {"document_id": {"$in": [str(document_id) for document_id in document_ids]}} if document_ids else None
        found = self._request(
            lambda timeout: self._index.query(
                vector=values,
                top_k=min(top_k, _MAX_TOP_K),
                namespace=str(bot_id),
                filter=chosen,
                include_metadata=False,
                include_values=False,
                timeout=timeout,
            ),
            deadline,
        )
        return [Hit(ref, match.score) for match in found.matches if (ref := _parsed(match.id)) is not None]

    def missing(self, user_id: UserId, bot_id: BotId, refs: Sequence[ChunkRef]) -> frozenset[ChunkRef]:  # noqa: ARG002
        absent: set[ChunkRef] = set()
        for start in range(0, len(refs), _FETCHED_IDS):
            batch = {str(ref): ref for ref in refs[start : start + _FETCHED_IDS]}
            found = self._request(
                lambda timeout, batch=batch: self._index.fetch(ids=list(batch), namespace=str(bot_id), timeout=timeout)
            )
            absent.update(ref for id_, ref in batch.items() if id_ not in found.vectors)
        return frozenset(absent)

    def delete_generations(self, user_id: UserId, bot_id: BotId, document_id: DocumentId, *, keep: int | None) -> None:  # noqa: ARG002
        namespace = str(bot_id)
        kept = None if keep is None else f"{document_id}:{keep}:"
        try:
            # All of them first: deleting while listing would move the pages.
            ids = [id_ for id_ in self._ids(namespace, f"{document_id}:") if kept is None or not id_.startswith(kept)]
            for start in range(0, len(ids), _MAX_DELETED_IDS):
                batch = ids[start : start + _MAX_DELETED_IDS]
                self._request(
                    lambda timeout, batch=batch: self._index.delete(ids=batch, namespace=namespace, timeout=timeout)
                )
        except _NoSuchNamespace:
            return

    def delete_namespace(self, user_id: UserId, bot_id: BotId) -> None:  # noqa: ARG002
        try:
            self._request(lambda timeout: self._index.delete_namespace(name=str(bot_id), timeout=timeout))
        except _NoSuchNamespace:
            return

    def ping(self, deadline: Deadline) -> None:
        """Raises VectorIndexUnavailable also for an index whose scores are no cosines."""
        deadline.check()
        stats = self._request(lambda timeout: self._index.describe_index_stats(timeout=timeout), deadline)
        if stats.metric not in (None, "cosine"):
            raise VectorIndexUnavailable("The vector index (Pinecone) does not measure by cosine.")

    def _ids(self, namespace: str, prefix: str) -> Iterator[str]:
        token: str | None = None
        while True:
            page = self._request(
                lambda timeout, token=token: self._index.list_paginated(
                    prefix=prefix, namespace=namespace, pagination_token=token, timeout=timeout
                )
            )
            yield from (item.id for item in page.vectors if item.id is not None)
            token = page.pagination.next if page.pagination else None
            if not token:
                return

    def _request(self, send: Callable[[float], T], deadline: Deadline | None = None) -> T:
        """``send`` with a timeout for each attempt. Error messages are ours: the service's own are not repeated."""
        deadline = deadline or Deadline.after(self._request_timeout)
        timeout = max(0.001, min(deadline.remaining(), _ATTEMPT_TIMEOUT_S))  # the SDK takes no 0
        try:
            return self._calls.run(lambda: send(timeout), deadline)
        except Overdue:
            reason = "does not answer in time"
        except NotFoundError:
            raise _NoSuchNamespace("The vector index (Pinecone) answered with HTTP 404.") from None
        except ApiError as error:
            reason = f"answered with HTTP {error.status_code}"
        except (PineconeError, httpx.HTTPError):
            reason = "cannot be reached, or answers nonsense"
        raise VectorIndexUnavailable(f"The vector index (Pinecone) {reason}.")


class _NoSuchNamespace(VectorIndexUnavailable):
    """HTTP 404: the namespace, or the whole index, does not exist."""


def _record(vector: tuple[ChunkRef, Vector]) -> dict[str, Any]:
    ref, values = vector
    metadata = {"document_id": str(ref.document_id), "generation": ref.generation}
    return {"id": str(ref), "values": [float(value) for value in values], "metadata": metadata}


def _batches(records: Iterator[dict[str, Any]]) -> Iterator[list[Mapping[str, Any]]]:
    batch: list[Mapping[str, Any]] = []
    size = 0
    for record in records:
        added = len(json.dumps(record, separators=(",", ":"))) + 1
        if batch and (len(batch) == _MAX_RECORDS or size + added > _MAX_UPSERT_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(record)
        size += added
    if batch:
        yield batch


def _parsed(id_: str) -> ChunkRef | None:
    """None for an id that is none of ours: whatever else lies in the namespace is no chunk."""
    try:
        return ChunkRef.parse(id_)
    except ValueError:
        return None
