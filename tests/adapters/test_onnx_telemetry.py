"""The embedding model's runtime keeps to itself."""

import os
import subprocess
import sys
from pathlib import Path


def test_loading_the_onnx_adapter_leaves_no_telemetry_in_the_home_folder(tmp_path: Path) -> None:
    environment = {"HOME": str(tmp_path), "PATH": os.environ["PATH"]}
    subprocess.run([sys.executable, "-c", "import botforge.adapters.embedding.onnx"], env=environment, check=True)
    assert list(tmp_path.rglob("*")) == []
