"""The committed graph is what the original model exports to."""

import subprocess
import sys

import pytest

from botforge_dev.build.layout import ROOT
from botforge_dev.model.exporting import environment


@pytest.mark.slow
@pytest.mark.timeout(1_800)
def test_the_committed_graph_comes_out_again_and_gives_the_originals_vectors() -> None:
    if environment.existing() is None:
        pytest.skip("torch's environment is not there; ./scripts/export_model --check makes it and runs this")
    command = [sys.executable, "-m", "botforge_dev.model.exporting", "--check"]

    completed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)  # noqa: S603

    assert completed.returncode == 0, completed.stdout[-2_000:] + completed.stderr[-2_000:]
