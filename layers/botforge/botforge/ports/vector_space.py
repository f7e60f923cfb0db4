"""Which embedding model a database's vectors belong to."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from botforge.domain.ids import RoutingExampleId, ToolId
from botforge.domain.tool import ToolDefinition
from botforge.ports.embedding import Vector


class VectorSpace(Protocol):
    """The model that made the vectors of passages, tools and routing examples. Raises DatabaseUnavailable."""

    def adopt(self, model_id: str) -> str:
        """The id of the model that made the vectors; ``model_id`` from now on where none was noted yet."""
        ...


class Reembedding(Protocol):
    """What has to be embedded anew, beside passages, when the model changes; over all tenants."""

    def tools(self) -> Sequence[tuple[ToolId, ToolDefinition]]:
        """The accepted definitions that have a vector."""
        ...

    def examples(self) -> Sequence[tuple[RoutingExampleId, str]]: ...

    def switch(
        self, model_id: str, tools: Mapping[ToolId, Vector], examples: Mapping[RoutingExampleId, Vector]
    ) -> None:
        """Note the new model and save its vectors, at once or not at all; those of sentences go.

        A tool or an example whose vector is not given (it came in between) loses its own: no vector of the old model
        stays beside the new one's.
        """
        ...
