"""Which model a folder with an original checkpoint holds."""

import hashlib
from pathlib import Path

from botforge.domain.errors import EmbeddingUnavailable

MODEL_ID = "all-MiniLM-L6-v2"
_CHECKPOINT = "model.safetensors"
_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"  # of MODEL_ID's checkpoint


def model_id_of(model_dir: Path) -> str:
    """The id of the vector space: two checkpoints that differ in a bit have two ids, whatever their folders are called.

    Raises EmbeddingUnavailable if there is no checkpoint.
    """
    try:
        with (model_dir / _CHECKPOINT).open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise EmbeddingUnavailable(
            "The embedding model is not where it should be.",
            code="embedding_model_missing",
            next_step="Set EMBEDDING_MODEL_DIR to a folder with the original model.",
        ) from error
    return MODEL_ID if digest == _SHA256 else f"{model_dir.resolve().name}@{digest[:12]}"
