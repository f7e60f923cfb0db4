"""Rows of ``mcp_servers`` and ``mcp_tools``, and what they mean."""

import json
import math
from collections.abc import Mapping
from typing import Any, LiteralString, cast

from psycopg.types.json import Json

from botforge.adapters.postgres.literals import literal
from botforge.domain.ids import BotId, ToolId, ToolServerId, UserId
from botforge.domain.tool import (
    CredentialKind,
    Dialect,
    Effect,
    ServerHealth,
    ServerStatus,
    ServerTool,
    Tool,
    ToolDefinition,
    ToolPolicy,
    ToolProtocol,
    ToolServer,
    ToolStatus,
)
from botforge.ports.embedding import Vector

SERVER_COLUMNS: LiteralString = """
s.id, s.user_id, s.bot_id, s.name, s.endpoint_url, s.description, s.is_active, s.timeout_seconds, s.retry_attempts,
s.config, s.protocol, s.dialect, s.credential_kind, s.sealed_credential, s.health_status, s.latency_ms,
s.consecutive_failures, s.checked_at, s.error_code, s.created_at, s.updated_at
"""
TOOL_COLUMNS: LiteralString = """
t.id as tool_id, t.mcp_server_id as tool_server_id, t.bot_id as tool_bot_id, t.name as tool_name,
t.description as tool_description, t.schema as tool_schema, t.output_schema as tool_output_schema,
t.header_parameters as tool_header_parameters, t.digest as tool_digest, t.status as tool_status,
t.pending as tool_pending, t.created_at as tool_created_at, t.updated_at as tool_updated_at
"""


def as_server(**columns: Any) -> ToolServer:  # noqa: ANN401 - a row's columns
    return ToolServer(
        id=ToolServerId(columns["id"]),
        bot_id=BotId(columns["bot_id"]),
        user_id=UserId(columns["user_id"]),
        name=columns["name"],
        endpoint_url=columns["endpoint_url"],
        description=columns["description"],
        is_active=columns["is_active"],
        timeout_seconds=columns["timeout_seconds"],
        retry_attempts=columns["retry_attempts"],
        protocol=ToolProtocol(columns["protocol"]),
        dialect=Dialect(columns["dialect"]) if columns["dialect"] else None,
        policies={
            name: ToolPolicy(Effect(policy["effect"]), policy["cache_ttl_seconds"])
            for name, policy in columns["config"]["policies"].items()
        },
        sealed_credential=columns["sealed_credential"],
        credential_kind=CredentialKind(columns["credential_kind"]) if columns["credential_kind"] else None,
        health=ServerHealth(
            status=ServerStatus(columns["health_status"]),
            latency_ms=columns["latency_ms"],
            consecutive_failures=columns["consecutive_failures"],
            checked_at=columns["checked_at"],
            error_code=columns["error_code"],
        ),
        created_at=columns["created_at"],
        updated_at=columns["updated_at"],
    )


def as_tool(**columns: Any) -> Tool:  # noqa: ANN401 - a row's columns
    return Tool(
        id=ToolId(columns["tool_id"]),
        server_id=ToolServerId(columns["tool_server_id"]),
        bot_id=BotId(columns["tool_bot_id"]),
        definition=ToolDefinition(
            name=columns["tool_name"],
            description=columns["tool_description"],
            input_schema=columns["tool_schema"],
            digest=columns["tool_digest"],
            output_schema=columns["tool_output_schema"],
            header_parameters=columns["tool_header_parameters"],
        ),
        status=ToolStatus(columns["tool_status"]),
        pending=None if columns["tool_pending"] is None else ToolDefinition(**columns["tool_pending"]),
        created_at=columns["tool_created_at"],
        updated_at=columns["tool_updated_at"],
    )


def as_server_tool(**columns: Any) -> ServerTool:  # noqa: ANN401 - a row's columns
    return ServerTool(as_server(**columns), as_tool(**columns))


def server_parameters(server: ToolServer) -> dict[str, object]:
    policies = {
        name: {"effect": policy.effect.value, "cache_ttl_seconds": policy.cache_ttl_seconds}
        for name, policy in server.policies.items()
    }
    return {
        "id": server.id,
        "user": server.user_id,
        "bot": server.bot_id,
        "name": server.name,
        "endpoint": server.endpoint_url,
        "description": server.description,
        "active": server.is_active,
        "timeout": server.timeout_seconds,
        "retries": server.retry_attempts,
        "config": as_json({"policies": policies}),
        "protocol": server.protocol,
        "dialect": server.dialect,
        "credential_kind": server.credential_kind,
        "sealed": server.sealed_credential,
        "created": server.created_at,
        "read_at": server.updated_at,
        **health_parameters(server.health),
    }


def health_parameters(health: ServerHealth) -> dict[str, object]:
    return {
        "health": health.status,
        "latency": health.latency_ms,
        "failures": health.consecutive_failures,
        "checked": health.checked_at,
        "error": health.error_code,
    }


def tool_parameters(user_id: UserId, tool: Tool, vector: Vector | None) -> dict[str, object]:
    definition = tool.definition
    return {
        "id": tool.id,
        "user": user_id,
        "bot": tool.bot_id,
        "server": tool.server_id,
        "name": storable(definition.name),
        "description": storable(definition.description),
        "schema": as_json(definition.input_schema),
        "output_schema": None if definition.output_schema is None else as_json(definition.output_schema),
        "header_parameters": as_json(definition.header_parameters),
        "digest": definition.digest,
        "status": tool.status,
        "pending": None if tool.pending is None else as_json(_definition(tool.pending)),
        "embedding": None if vector is None else literal(vector),
        "created": tool.created_at,
        "read_at": tool.updated_at,
    }


def storable(text: str) -> str:
    """PostgreSQL stores no NUL, and UTF-8 encodes no lone surrogate; a stranger's text may hold both."""
    return text.replace("\x00", "\ufffd").encode("utf-8", "replace").decode("utf-8")


def as_json(value: object) -> Json:
    return Json(value, dumps=_dumps)


def _dumps(value: object) -> str:
    try:
        return json.dumps(value, allow_nan=False)
    except ValueError:  # a stranger's NaN or Infinity, which are no JSON
        return json.dumps(_finite(value), allow_nan=False)


def _finite(value: object) -> object:
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, Mapping):
        members = cast("Mapping[object, object]", value)
        return {str(name): _finite(member) for name, member in members.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in cast("list[object]", value)]
    return value


def _definition(definition: ToolDefinition) -> dict[str, object]:
    return {
        "name": definition.name,
        "description": definition.description,
        "input_schema": definition.input_schema,
        "digest": definition.digest,
        "output_schema": definition.output_schema,
        "header_parameters": dict(definition.header_parameters),
    }
