"""A checkpoint's id is its own, whatever its folder is called."""

from pathlib import Path

import pytest

from botforge.adapters.embedding.original import model_id_of
from botforge.domain.errors import EmbeddingUnavailable


def test_two_checkpoints_have_two_ids_even_in_folders_of_one_name(tmp_path: Path) -> None:
    folders = [tmp_path / parent / "all-MiniLM-L6-v2" for parent in ("a", "b", "c")]
    for folder, content in zip(folders, (b"one", b"two", b"one"), strict=True):
        folder.mkdir(parents=True)
        (folder / "model.safetensors").write_bytes(content)
    one, two, again = map(model_id_of, folders)
    assert one == again
    assert len({one, two, "all-MiniLM-L6-v2"}) == 3
    assert one.startswith("all-MiniLM-L6-v2@")


def test_a_folder_without_a_checkpoint_holds_no_model(tmp_path: Path) -> None:
    with pytest.raises(EmbeddingUnavailable) as raised:
        model_id_of(tmp_path)
    assert raised.value.code == "embedding_model_missing"
