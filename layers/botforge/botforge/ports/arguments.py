"""Checking a call's arguments against the schema of its tool."""

from collections.abc import Sequence
from typing import Protocol

from botforge.domain.tool import JsonObject


class ArgumentChecker(Protocol):
    def problems(self, schema: JsonObject, arguments: JsonObject) -> Sequence[str]:
        """What must be mended, in sentences for the model; empty if the arguments fit.

        Reaches for nothing outside the schema, and ends in time whatever schema a stranger wrote. A schema that
        cannot be used is itself a problem.
        """
        ...
