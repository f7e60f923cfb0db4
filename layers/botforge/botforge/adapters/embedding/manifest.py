"""What must lie in the model's folder."""

import json
from dataclasses import dataclass
from pathlib import Path

from botforge.domain.errors import EmbeddingUnavailable

MANIFEST = "manifest.json"


@dataclass(frozen=True, slots=True)
class Manifest:
    model_id: str
    dimension: int
    max_tokens: int  # special tokens included


def check_files(model_dir: Path) -> Manifest:
    """Read the manifest, and see that every file has its size (checksums are the build's).

    Raises EmbeddingUnavailable.
    """
    try:
        content = json.loads((model_dir / MANIFEST).read_text(encoding="utf-8"))
        sizes = {name: int(expected["bytes"]) for name, expected in content["files"].items()}
        manifest = Manifest(str(content["model_id"]), int(content["dimension"]), int(content["max_tokens"]))
        damaged = [name for name, size in sizes.items() if (model_dir / name).stat().st_size != size]
    except OSError as error:
        raise EmbeddingUnavailable(
            "The embedding model is not where it should be.",
            code="embedding_model_missing",
            next_step="Run scripts/build, or set EMBEDDING_MODEL_DIR.",
        ) from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:  # not JSON, or JSON of another shape
        raise damage() from error
    if damaged:
        raise damage()
    return manifest


def damage() -> EmbeddingUnavailable:
    return EmbeddingUnavailable(
        "A file of the embedding model is damaged.",
        code="embedding_model_damaged",
        next_step="Delete the model's weights and run scripts/build.",
    )
