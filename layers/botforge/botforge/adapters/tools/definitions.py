"""Tool definitions as a server lists them → ours: bounded, normalised, pinned by their digest."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256

from botforge.adapters.tools.json_values import Json, NotJson, as_object, canonical, storable
from botforge.adapters.tools.schemas import SchemaRefused, normalised, normalised_part
from botforge.domain.tool import ToolDefinition

MAX_TOOLS = 500
MAX_NAME_CHARS = 128  # MCP 2025-11-25, "Tool names"
MAX_DESCRIPTION_CHARS = 8_192
_MAX_NOTES = 50


@dataclass(frozen=True, slots=True)
class HeaderParameters:
    """What MCP's ``x-mcp-header`` annotations of one tool ask for."""

    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    invalid: bool = False


ReadHeaderParameters = Callable[[Mapping[str, Json]], HeaderParameters]


def digest_of(sent: Mapping[str, Json]) -> str:
    """SHA-256 over what the server sent, but for ``_meta``, which MCP keeps for things about the message."""
    return sha256(canonical({key: value for key, value in sent.items() if key != "_meta"})).hexdigest()


class ToolReader:
    """Collects the tools of one server. A tool that cannot be used is left out, with a note for its registrar."""

    def __init__(self, *, schema_key: str, header_parameters: ReadHeaderParameters | None = None) -> None:
        self._schema_key = schema_key
        self._header_parameters = header_parameters
        self._tools: dict[str, ToolDefinition] = {}
        self._notes: list[str] = []

    @property
    def tools(self) -> tuple[ToolDefinition, ...]:
        return tuple(self._tools.values())

    @property
    def notes(self) -> tuple[str, ...]:
        left_out = len(self._notes) - _MAX_NOTES
        return (*self._notes[:_MAX_NOTES], f"{left_out} more notes.") if left_out > 0 else tuple(self._notes)

    @property
    def full(self) -> bool:
        return len(self._tools) >= MAX_TOOLS

    def note(self, sentence: str) -> None:
        self._notes.append(sentence)

    def read(self, listed: Iterable[object]) -> None:
        for position, sent in enumerate(listed, start=1):
            if self.full:
                self.note(f"More than {MAX_TOOLS} tools are listed; the rest was left out.")
                return
            self._read_one(sent, position)

    def _read_one(self, sent: object, position: int) -> None:
        tool = as_object(sent)
        name = tool.get("name") if tool is not None else None
        if tool is None or not isinstance(name, str) or not _usable(name):
            self.note(
                f"Tool number {position} was left out: it has no name of 1 to {MAX_NAME_CHARS} printable characters."
            )
        elif name in self._tools:
            self.note(f"A second tool called {name!r} was left out.")
        else:
            try:
                self._tools[name] = self._definition(name, storable(tool))
            except _LeftOut as reason:
                self.note(f"Tool {name!r} was left out: {reason}.")
            except SchemaRefused as reason:
                self.note(f"Tool {name!r} was left out: its schema {reason}.")
            except (NotJson, RecursionError):
                self.note(f"Tool {name!r} was left out: its definition is nested too deeply.")

    def _definition(self, name: str, tool: Mapping[str, Json]) -> ToolDefinition:
        description = tool.get("description")
        description = description if isinstance(description, str) else ""
        if len(description) > MAX_DESCRIPTION_CHARS:
            raise _LeftOut(f"its description is longer than {MAX_DESCRIPTION_CHARS:,} characters")
        schema: object = tool.get(self._schema_key)
        headers = self._header_parameters(as_object(schema) or {}) if self._header_parameters else HeaderParameters()
        if headers.invalid:
            raise _LeftOut("its x-mcp-header annotations are not valid")
        return ToolDefinition(
            name=name,
            description=description,
            input_schema=normalised(schema),
            digest=digest_of(tool),
            output_schema=normalised_part(tool.get("outputSchema")),
            header_parameters=headers.headers,
        )


def _usable(name: str) -> bool:
    return 0 < len(name) <= MAX_NAME_CHARS and name.isprintable() and name == name.strip()


class _LeftOut(Exception):
    """Why a tool cannot be used."""
