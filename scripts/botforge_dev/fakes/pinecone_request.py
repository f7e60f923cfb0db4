"""What Pinecone's data plane accepts: its published limits, and the refusals of a serverless index.

"Pinecone Database limits" and the API reference of 2026-07. Of "2 MB" the smaller reading holds.
"""

import json
import math
from collections.abc import Collection
from typing import Any

Json = dict[str, Any]

MAX_RECORDS = 1_000
MAX_REQUEST_BYTES = 2_000_000
MAX_METADATA_BYTES = 40_960
MAX_ID_LENGTH = 512
MAX_TOP_K = 10_000
MAX_IDS = 1_000
MAX_LIST = 100
MAX_URL_BYTES = 8_192  # of the gateways in front; no limit of the index itself
_MAX_IN = 10_000


class Refused(Exception):
    """``status`` is HTTP's, ``code`` gRPC's, as the service sends both."""

    def __init__(self, message: str, *, status: int = 400, code: int = 3) -> None:
        super().__init__(message)
        self.status = status
        self.code = code


def parsed(body: bytes, allowed: Collection[str]) -> Json:
    try:
        document: Any = json.loads(body)
    except ValueError:
        raise Refused("The request body is no JSON.") from None
    if not isinstance(document, dict):
        raise Refused("The request body is no object.")
    request: Json = document  # pyright: ignore[reportUnknownVariableType] - JSON
    for name in request:
        if name not in allowed:
            raise Refused(f"Unknown field '{name}'.")
    if not isinstance(request.get("namespace", ""), str):
        raise Refused("'namespace' is no string.")
    return request


def checked_upsert(body: bytes, dimension: int) -> Json:
    if len(body) > MAX_REQUEST_BYTES:
        message = f"message length too large: found {len(body)} bytes, the limit is: {MAX_REQUEST_BYTES} bytes"
        raise Refused(message, status=413, code=11)
    request = parsed(body, ("vectors", "namespace"))
    vectors = _items(request.get("vectors"), "vectors", MAX_RECORDS)
    for vector in vectors:
        if not isinstance(vector, dict) or not {"id", "values"} <= vector.keys() <= {"id", "values", "metadata"}:
            raise Refused("A vector has an 'id', 'values' and perhaps 'metadata'.")
        record: Json = vector  # pyright: ignore[reportUnknownVariableType] - JSON
        check_id(record["id"])
        check_values(record["values"], dimension)
        check_metadata(record.get("metadata", {}))
    return request


def checked_query(body: bytes, dimension: int) -> Json:
    request = parsed(body, ("vector", "id", "topK", "namespace", "filter", "includeValues", "includeMetadata"))
    if ("vector" in request) == ("id" in request):
        raise Refused("A query has either a 'vector' or an 'id'.")
    if "vector" in request:
        check_values(request["vector"], dimension)
    top_k = request.get("topK")
    if isinstance(top_k, bool) or not isinstance(top_k, int) or not 1 <= top_k <= MAX_TOP_K:
        raise Refused(f"'topK' must be between 1 and {MAX_TOP_K}.")
    check_filter(request.get("filter", {}))
    return request


def checked_delete(body: bytes) -> Json:
    request = parsed(body, ("ids", "deleteAll", "filter", "namespace"))
    if len(request.keys() & {"ids", "deleteAll", "filter"}) != 1:
        raise Refused("A delete names exactly one of 'ids', 'deleteAll' and 'filter'.")
    if "filter" in request:
        raise Refused("Serverless and Starter indexes do not support deleting with metadata filtering")
    if "ids" in request:
        check_ids(request["ids"])
    return request


def check_ids(ids: object) -> None:
    for id_ in _items(ids, "ids", MAX_IDS):
        check_id(id_)


def check_id(id_: object) -> None:
    if not isinstance(id_, str) or not 1 <= len(id_) <= MAX_ID_LENGTH or not id_.isascii() or "\0" in id_:
        raise Refused(f"An id is a string of 1 to {MAX_ID_LENGTH} ASCII characters.")


def check_values(values: object, dimension: int) -> None:
    numbers: list[Any] = values if isinstance(values, list) else []  # pyright: ignore[reportUnknownVariableType]
    if len(numbers) != dimension:
        raise Refused(f"Vector dimension {len(numbers)} does not match the dimension of the index {dimension}")
    if not set(map(type, numbers)) <= {int, float} or not all(map(math.isfinite, numbers)):
        raise Refused("Values are finite numbers.")
    if not any(numbers):
        raise Refused("Dense vectors must contain at least one non-zero value")


def check_metadata(metadata: object) -> None:
    if not isinstance(metadata, dict):
        raise Refused("'metadata' is no object.")
    fields: Json = metadata  # pyright: ignore[reportUnknownVariableType] - JSON
    size = len(json.dumps(fields, separators=(",", ":"), ensure_ascii=False).encode())
    if size > MAX_METADATA_BYTES:
        raise Refused(
            f"Metadata size is {size} bytes, which exceeds the limit of {MAX_METADATA_BYTES} bytes per vector"
        )
    for name, value in fields.items():
        strings: list[Any] = value if isinstance(value, list) else []  # pyright: ignore[reportUnknownVariableType]
        fits = isinstance(value, str | int | float) or (strings and all(isinstance(each, str) for each in strings))
        if name.startswith("$") or not fits:
            raise Refused(
                f"Metadata value must be a string, number, boolean or list of strings, got '{value}' for '{name}'"
            )


def check_filter(condition: object) -> None:
    """Only what is used here: ``{field: {"$in": [..]}}``, one field."""
    if condition == {}:
        return
    conditions: Json = condition if isinstance(condition, dict) else {}  # pyright: ignore[reportUnknownVariableType]
    if len(conditions) != 1:
        raise Refused("This stand-in filters by one field.")
    operator: Any = next(iter(conditions.values()))
    if not isinstance(operator, dict) or operator.keys() != {"$in"}:
        raise Refused("This stand-in filters by '$in' alone.")
    _items(operator["$in"], "$in", _MAX_IN)  # pyright: ignore[reportUnknownArgumentType] - JSON


def _items(value: object, name: str, most: int) -> list[Any]:
    items: list[Any] = value if isinstance(value, list) else []  # pyright: ignore[reportUnknownVariableType]
    if not 1 <= len(items) <= most:
        raise Refused(f"'{name}' holds 1 to {most} items, not {len(items)}.")
    return items
