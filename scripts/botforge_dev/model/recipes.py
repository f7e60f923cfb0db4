"""How a tensor of the graph comes out of the original checkpoint: a handful of operations, with numpy alone."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Operation = Literal["copy", "transpose", "concatenate_transposed", "add_first_row"]

ALIGNMENT = 4096  # a page: tensors can be mapped rather than read


@dataclass(frozen=True, slots=True)
class Recipe:
    operation: Operation
    inputs: list[str]  # tensors of the checkpoint
    dtype: str

    def as_json(self) -> dict[str, Any]:
        return {"operation": self.operation, "inputs": self.inputs, "dtype": self.dtype}


def realise(recipe: Recipe, checkpoint: Mapping[str, Array]) -> Array:
    """Carry the recipe out. Raises KeyError when the checkpoint lacks an input."""
    inputs = [checkpoint[name] for name in recipe.inputs]
    match recipe.operation:
        case "copy":
            made = inputs[0]
        case "transpose":
            made = inputs[0].T
        case "concatenate_transposed":
            made: Array = np.hstack([matrix.T for matrix in inputs])  # pyright: ignore[reportUnknownMemberType]
        case "add_first_row":
            made = inputs[0] + inputs[1][0]
    return np.ascontiguousarray(made.astype(recipe.dtype))
