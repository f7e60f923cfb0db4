"""Reaching registered tool servers: the transport and the vault, each loaded when a request first needs it.

A function that could call a tool mostly does not: it must not pay, at init, for an MCP client, an HTTP client or KMS.
"""

from collections.abc import Callable, Mapping, Sequence
from threading import Lock
from typing import TypeVar

from botforge.domain.deadline import Deadline
from botforge.domain.tool import Discovery, JsonObject, ToolResult
from botforge.ports.arguments import ArgumentChecker
from botforge.ports.embedding import Embedder, Embedding
from botforge.ports.tools import Endpoint, ToolCall, ToolTransport, Vault
from botforge.settings import ToolSettings

Made = TypeVar("Made")


def once(make: Callable[[], Made]) -> Callable[[], Made]:
    """What ``make`` returns, made by the first call: calls come from many threads, and functools.cache is no lock."""
    lock, made = Lock(), list[Made]()

    def get() -> Made:
        with lock:
            if not made:
                made.append(make())
            return made[0]

    return get


def vault(settings: ToolSettings) -> Vault:
    def make() -> Vault:
        if settings.tool_credentials_key_id is not None:
            from botforge.adapters.vault.kms import KmsVault

            return KmsVault(settings.tool_credentials_key_id)
        if settings.tool_credentials_key_file is not None:
            from botforge.adapters.vault.local_key import LocalKeyVault

            return LocalKeyVault(settings.tool_credentials_key_file)
        from botforge.adapters.vault.absent import AbsentVault

        return AbsentVault()

    return _LazyVault(make)


def transport(settings: ToolSettings) -> ToolTransport:
    def make() -> ToolTransport:
        from botforge.adapters.tools.by_protocol import ByProtocolTransport

        return ByProtocolTransport(allow_loopback=settings.egress_allow_loopback)

    return _LazyTransport(make)


def argument_checker() -> ArgumentChecker:
    def make() -> ArgumentChecker:
        from botforge.adapters.arguments.json_schema import JsonSchemaChecker

        return JsonSchemaChecker()

    return _LazyChecker(make)


class LazyEmbedder:
    """An embedder that is loaded by the first text: most requests to the registry embed nothing."""

    def __init__(self, make: Callable[[], Embedder]) -> None:
        self._made = once(make)

    @property
    def model_id(self) -> str:
        return self._made().model_id

    @property
    def dimension(self) -> int:
        return self._made().dimension

    def embed(self, texts: Sequence[str]) -> list[Embedding]:
        return self._made().embed(texts)


class _LazyTransport:
    def __init__(self, make: Callable[[], ToolTransport]) -> None:
        self._made = once(make)

    def discover(self, endpoint: Endpoint, *, deadline: Deadline) -> Discovery:
        return self._made().discover(endpoint, deadline=deadline)

    def call(self, endpoint: Endpoint, call: ToolCall, *, deadline: Deadline) -> ToolResult:
        return self._made().call(endpoint, call, deadline=deadline)


class _LazyChecker:
    def __init__(self, make: Callable[[], ArgumentChecker]) -> None:
        self._made = once(make)

    def problems(self, schema: JsonObject, arguments: JsonObject) -> Sequence[str]:
        return self._made().problems(schema, arguments)


class _LazyVault:
    def __init__(self, make: Callable[[], Vault]) -> None:
        self._made = once(make)

    def seal(self, plaintext: bytes, *, context: Mapping[str, str]) -> bytes:
        return self._made().seal(plaintext, context=context)

    def open(self, sealed: bytes, *, context: Mapping[str, str]) -> bytes:
        return self._made().open(sealed, context=context)
