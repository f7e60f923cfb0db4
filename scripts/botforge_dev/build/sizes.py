"""How large each function is, unzipped and with its layers, as Lambda counts it."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from botforge_dev.template import Template

LAMBDA_LIMIT_BYTES = 250 * 1024 * 1024  # AWS, "Lambda quotas": function and layers, unzipped


@dataclass(frozen=True, slots=True)
class FunctionSize:
    """A function as it was built. Sizes in bytes; ``parts`` are its own package and its layers, by logical id."""

    logical_id: str
    parts: tuple[tuple[str, int], ...]
    has_bytecode: bool

    @property
    def total(self) -> int:
        return sum(size for _, size in self.parts)


def measure(build: Path) -> list[FunctionSize]:
    """Every function of the template that `sam build` wrote into ``build``."""
    template = Template(build / "template.yaml")
    sizes: list[FunctionSize] = []
    for name, properties in template.functions().items():
        parts = [name, *(layer["Ref"] for layer in properties["Layers"])]
        folders = [build / part for part in parts]
        sizes.append(
            FunctionSize(
                name,
                tuple((part, _size(folder)) for part, folder in zip(parts, folders, strict=True)),
                all(any(folder.rglob("*.pyc")) for folder in folders),
            )
        )
    return sizes


def table(sizes: Sequence[FunctionSize]) -> str:
    """The sizes for people, in MB of 1,000,000 bytes beside Lambda's limit."""
    lines = [f"{'function':<20}{'MB':>7}  of {LAMBDA_LIMIT_BYTES / 1e6:.0f}   made of"]
    for size in sizes:
        parts = ", ".join(f"{part} {count / 1e6:.1f}" for part, count in size.parts)
        lines.append(
            f"{size.logical_id:<20}{size.total / 1e6:>7.1f}  {'' if size.has_bytecode else 'NO BYTECODE  '}{parts}"
        )
    return "\n".join(lines)


def _size(folder: Path) -> int:
    return sum(path.lstat().st_size for path in folder.rglob("*") if path.is_file())
