"""Routing keeps its figures: each fails when it drops by more than a point below what ``docs/routing.md`` says."""

from pathlib import Path
from typing import Any

import pytest

from botforge_dev.evaluation.suites.routing import run
from botforge_dev.routing.outcomes import figures as figures_of
from botforge_dev.routing.same_domain import write
from botforge_dev.routing.with_documents import outcomes


def evaluated(folder: Path, split: str) -> dict[str, Any]:
    return run(folder, split, lambda _: None)


def test_bots_with_documents_and_tools_of_one_domain(tmp_path: Path, model_dir: Path) -> None:
    assert model_dir.is_dir()
    write(tmp_path)
    figures = evaluated(tmp_path, "test")
    assert figures["accuracy"] >= 0.855
    assert figures["labels"]["execution"]["accuracy"] >= 0.947


@pytest.mark.slow
def test_sources_that_the_router_was_never_trained_on(shared_data: Path, model_dir: Path) -> None:
    assert model_dir.is_dir()
    figures = evaluated(shared_data / "intent", "unseen")
    assert figures["accuracy"] >= 0.983
    assert figures["accuracy_hard"] >= 0.983
    assert figures["accuracy_at_90"] >= 0.989
    assert figures["ece"] <= 0.038
    for source in figures["sources"].values():
        assert source["accuracy_at_90"] >= 0.98


@pytest.mark.slow
def test_other_sentences_of_the_sources_that_it_was_trained_on(shared_data: Path, model_dir: Path) -> None:
    assert model_dir.is_dir()
    figures = evaluated(shared_data / "intent", "dev")
    assert figures["accuracy"] >= 0.974
    assert figures["accuracy_at_90"] >= 0.99


@pytest.mark.slow
def test_documents_tell_questions_from_actions_where_a_bot_has_both(model_dir: Path) -> None:
    assert model_dir.is_dir()
    without, with_them = outcomes()
    measured = figures_of(with_them)
    assert measured["accuracy"] >= 0.932
    assert measured["accuracy_at_90"] >= 0.969
    assert measured["accuracy"] > figures_of(without)["accuracy"] + 0.05
