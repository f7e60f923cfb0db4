"""Arguments against JSON Schema, by the ``jsonschema`` library: the draft that ``$schema`` names, else 2020-12.

The schema was written by a stranger. No reference is fetched, a reference inside the schema is followed a bounded
number of times, and no regular expression of the schema's is run (``pattern``, ``patternProperties``, and what builds
on them): one that never ends is written in ten characters. What those say is left to the server.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema import exceptions as _exceptions
from jsonschema import validators as _validators
from jsonschema.exceptions import UnknownType
from referencing import Registry
from referencing.exceptions import Unresolvable

from botforge.domain.tool import JsonObject

_MAX_PROBLEMS = 10
_MAX_REFERENCES = 1_000  # followed for one set of arguments
_MAX_UNIQUE = 1_000  # items that are compared with each other
_MAX_MESSAGE = 300  # characters
_UNUSABLE = "The tool's schema cannot be used: tell the user that this tool cannot be called."
_DAMAGED = (
    Unresolvable, UnknownType, RecursionError, TypeError, ValueError, AttributeError, LookupError, ArithmeticError,
)  # fmt: skip

_SKIPPED = ("pattern", "patternProperties", "unevaluatedProperties", "unevaluatedItems")
_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")

_Error = Any  # jsonschema.ValidationError; the library is typed in part
_Check = Callable[[Any, Any, Any, Any], Iterator[_Error]]  # validator, the keyword's value, instance, schema


class JsonSchemaChecker:
    """ArgumentChecker."""

    def problems(self, schema: JsonObject, arguments: JsonObject) -> Sequence[str]:
        nothing: Registry[Any] = Registry()  # retrieves nothing
        try:
            validator: Any = _bounded(schema)(dict(schema), registry=nothing)
            return [_sentence(error) for error in islice(validator.iter_errors(dict(arguments)), _MAX_PROBLEMS)]
        except _DAMAGED:
            return [_UNUSABLE]


def _bounded(schema: JsonObject) -> Any:  # noqa: ANN401 - a validator's class
    """The draft's validator, without what a schema could use to keep us busy."""
    library: Any = _validators
    base: Any = library.validator_for(dict(schema), default=Draft202012Validator)
    left = iter(range(_MAX_REFERENCES))

    def followed(check: _Check) -> _Check:
        def follow(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[_Error]:  # noqa: ANN401
            if next(left, None) is None:
                raise RecursionError("the schema refers to itself too often")
            yield from check(validator, value, instance, schema) or ()

        return follow

    def small(check: _Check) -> _Check:
        def compare(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[_Error]:  # noqa: ANN401
            if not isinstance(instance, list) or len(instance) <= _MAX_UNIQUE:  # pyright: ignore[reportUnknownArgumentType]
                yield from check(validator, value, instance, schema) or ()

        return compare

    def without_patterns(check: _Check) -> _Check:
        def additional(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[_Error]:  # noqa: ANN401
            if "patternProperties" not in schema:
                yield from check(validator, value, instance, schema) or ()

        return additional

    checks: dict[str, _Check] = base.VALIDATORS
    changed = {name: followed(checks[name]) for name in _REFERENCES if name in checks}
    changed |= {name: _skip for name in _SKIPPED if name in checks}
    changed["uniqueItems"] = small(checks["uniqueItems"])
    changed["additionalProperties"] = without_patterns(checks["additionalProperties"])
    return library.extend(base, changed)


def _skip(*_: object) -> Iterator[_Error]:
    return iter(())


def _sentence(error: _Error) -> str:
    library: Any = _exceptions
    found: _Error = library.best_match([error]) or error
    path = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in found.absolute_path).lstrip(".")
    return f"{path or 'arguments'}: {found.message}"[:_MAX_MESSAGE]
