"""Results of tools that their registrar declared cacheable."""

import hashlib
import json
from dataclasses import dataclass
from typing import Any, cast

from botforge.domain.ids import UserId
from botforge.domain.json_values import canonical, storable
from botforge.domain.tool import JsonObject, ServerTool, ToolResult
from botforge.ports.cache import Cache

_VERSION = 1  # of the key and the value


@dataclass(frozen=True, slots=True)
class ResultCache:
    """A result belongs to one tenant, one tool as it was when accepted, at one address, and one set of arguments."""

    cache: Cache | None

    def get(self, user_id: UserId, target: ServerTool, arguments: JsonObject) -> ToolResult | None:
        if self.cache is None or target.policy.cache_ttl_seconds <= 0:
            return None
        kept = self.cache.get(_key(user_id, target, arguments))
        return None if kept is None else _read(kept)

    def set(self, user_id: UserId, target: ServerTool, arguments: JsonObject, result: ToolResult) -> None:
        """Keep a whole, good result for as long as the registrar declared; others are not kept."""
        ttl = target.policy.cache_ttl_seconds
        if self.cache is None or ttl <= 0 or result.is_error or result.truncated:
            return
        value = json.dumps({"text": storable(result.text), "content": storable(result.content)}, allow_nan=False)
        self.cache.set(_key(user_id, target, arguments), value.encode(), ttl=ttl)


def _key(user_id: UserId, target: ServerTool, arguments: JsonObject) -> str:
    server, definition = target.server, target.tool.definition
    parts = [_VERSION, str(user_id), str(server.id), server.endpoint_url, definition.name, definition.digest, arguments]
    return f"tool-result:{hashlib.sha256(canonical(parts).encode()).hexdigest()}"


def _read(kept: bytes) -> ToolResult | None:
    """A cache that others can write to is believed only as far as its shape goes."""
    try:
        value: Any = json.loads(kept)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict):
        return None
    fields = cast("dict[str, Any]", value)
    if not isinstance(fields.get("text"), str) or "content" not in fields:
        return None
    return ToolResult(text=fields["text"], content=fields["content"], is_error=False)
