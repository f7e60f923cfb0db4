"""Choosing tools keeps its figures: each fails when it drops by more than a point below what ``docs/tools.md`` says."""

from pathlib import Path

import pytest

from botforge_dev.evaluation.suites.toolselect import run


@pytest.mark.slow
def test_tools_are_chosen_as_well_as_the_page_says(shared_data: Path, model_dir: Path) -> None:
    assert model_dir.is_dir()
    figures = run(shared_data / "toolselect", "dev", lambda _: None)
    assert figures["top_1"] >= 0.981
    assert figures["recall_at_8"] >= 0.975
    assert figures["several"]["recall_at_8"] >= 0.910
    assert figures["all"]["recall_at_8"] >= 0.962
