"""JSON Schemas of a stranger, made such that an LLM's API takes them and nothing here can be blown up by them.

An LLM's API asks for an object at the root without combinators beside it, resolves no reference, and refuses the whole
request for one schema that it cannot read. So local references are written out (a cycle is cut where it closes), remote
ones are never fetched, unknown keywords are dropped, and everything is counted. What is cut accepts anything: the
server checks its arguments itself.

Patterns become words in the description: a model reads them as well there, and no regular expression of a stranger is
ever run here.
"""

from collections.abc import Mapping
from urllib.parse import unquote

from botforge.adapters.tools.json_values import Json, as_list, as_object, compact
from botforge.adapters.tools.schema_keywords import plain_keywords
from botforge.domain.tool import JsonObject

MAX_SCHEMA_BYTES = 64 * 1024  # of the normalised schema
MAX_PROPERTIES = 500  # in all of it
MAX_POSITIONS = 4_000  # schemas within a schema, references written out
MAX_DEPTH = 24  # what lies deeper accepts anything

_ONE = ("additionalProperties", "contains", "else", "if", "items", "not", "propertyNames", "then")
_MANY = ("allOf", "anyOf", "oneOf", "prefixItems")
_NAMED = ("dependentSchemas", "properties")
_NOT_AT_ROOT = frozenset({"allOf", "anyOf", "const", "else", "enum", "if", "not", "oneOf", "then"})

_Schema = dict[str, Json]


class SchemaRefused(ValueError):
    """The schema is none, not one of an object, or larger than it may be. The message goes on from "its schema"."""


def normalised(schema: object) -> JsonObject:
    """The input schema of a tool for an LLM's API. None at all means: no parameters. Raises SchemaRefused."""
    if schema is None:
        return {"type": "object", "properties": {}}
    document = as_object(schema)
    if document is None:
        raise SchemaRefused("is not an object")
    root = _Normaliser(document).position(document)
    kind = root.get("type", "object")
    if kind != "object" and "object" not in kind:
        raise SchemaRefused("does not describe an object")
    return _bounded({**_folded(root), "type": "object"})


def normalised_part(schema: object) -> JsonObject | None:
    """Any schema, as one position; None for what is none or is larger than it may be."""
    document = as_object(schema)
    try:
        return None if document is None else _bounded(_Normaliser(document).position(document))
    except SchemaRefused:
        return None


def _bounded(schema: _Schema) -> _Schema:
    if len(compact(schema).encode()) > MAX_SCHEMA_BYTES:
        raise SchemaRefused(f"is larger than {MAX_SCHEMA_BYTES // 1024} KB")
    return schema


class _Normaliser:
    def __init__(self, document: _Schema) -> None:
        self._document = document
        self._positions = 0
        self._properties = 0

    def position(self, schema: object, depth: int = 0, open_references: tuple[str, ...] = ()) -> _Schema:
        """One schema within the document; ``open_references`` are those that led here."""
        self._positions += 1
        if self._positions > MAX_POSITIONS:
            raise SchemaRefused(f"has more than {MAX_POSITIONS:,} parts")
        if schema is False:
            return {"not": {}}
        source = as_object(schema)
        if source is None or depth > MAX_DEPTH:
            return {}
        while isinstance(reference := source.get("$ref"), str):
            beside = {key: value for key, value in source.items() if key != "$ref"}
            if reference in open_references:
                source = beside
                break
            open_references = (*open_references, reference)
            source = {**self._resolve(reference), **beside}
        return self._keywords(source, depth + 1, open_references)

    def _keywords(self, source: _Schema, depth: int, open_references: tuple[str, ...]) -> _Schema:
        result = plain_keywords(source)
        for key in _ONE:
            value: object = source.get(key)
            if key == "additionalProperties" and isinstance(value, bool):
                if value or "patternProperties" not in source:  # which are dropped, and may have allowed some
                    result[key] = value
            elif isinstance(value, bool) or as_object(value) is not None:
                result[key] = self.position(value, depth, open_references)
        for key, value in self._lists(source):
            result[key] = [self.position(item, depth, open_references) for item in value]
        for key in _NAMED:
            if (parts := as_object(source.get(key))) is not None:
                result[key] = {name: self.position(part, depth, open_references) for name, part in parts.items()}
        self._properties += len(result.get("properties", ()))
        if self._properties > MAX_PROPERTIES:
            raise SchemaRefused(f"has more than {MAX_PROPERTIES} properties")
        return result

    def _lists(self, source: _Schema) -> list[tuple[str, list[Json]]]:
        found = [(key, as_list(source.get(key))) for key in _MANY]
        found.append(("prefixItems", as_list(source.get("items"))))  # a tuple, before 2020-12
        return [(key, value) for key, value in found if value]

    def _resolve(self, reference: str) -> Mapping[str, Json]:
        """What a JSON pointer into this document names (RFC 6901); nothing for any other reference."""
        if reference != "#" and not reference.startswith("#/"):
            return {}
        found: object = self._document
        for part in reference.split("/")[1:]:
            key = unquote(part).replace("~1", "/").replace("~0", "~")
            if (members := as_object(found)) is not None:
                found = members.get(key)
            elif (items := as_list(found)) is not None and key.isdecimal() and int(key) < len(items):
                found = items[int(key)]
            else:
                return {}
        return as_object(found) or {}


def _folded(root: _Schema) -> _Schema:
    """The root without combinators: every property that any part knows, required where all alternatives agree."""
    properties: _Schema = dict(root.get("properties", {}))
    required: list[str] = list(root.get("required", ()))
    combined = False
    for key in ("allOf", "anyOf", "oneOf"):
        parts = [_folded(part) for part in root.get(key, ())]
        combined = combined or bool(parts)
        for part in parts:
            properties = {**part["properties"], **properties}
        names: list[list[str]] = [part.get("required", []) for part in parts]
        needed = all if key != "allOf" else any
        required += [name for some in names for name in some if needed(name in others for others in names)]
    result = {key: value for key, value in root.items() if key not in _NOT_AT_ROOT}
    if combined and result.get("additionalProperties") is False:
        del result["additionalProperties"]
    result["properties"] = properties
    if required:
        result["required"] = list(dict.fromkeys(required))
    return result
