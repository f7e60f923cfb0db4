"""What is decided whatever the trained head says."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from botforge.domain.query import Intent
from botforge.domain.routing import (
    BAND,
    DecidedBy,
    ExampleEvidence,
    Routing,
    ToolEvidence,
    UncertainBand,
    decide,
    may_turn_on_a_passage,
    with_examples,
)

ACT, ASK = Intent.EXECUTION, Intent.INFORMATION_RETRIEVAL
TOOL = ToolEvidence("pay_bill", "Pay a bill", 0.6)
probabilities = st.floats(0, 1)
cosines = st.floats(-1, 1)
evidence = st.lists(st.builds(ExampleEvidence, st.sampled_from(Intent), cosines), max_size=8)


def test_a_bot_without_tools_never_executes() -> None:
    routing = decide(1.0, tools=[], best_passage=None, examples=[ExampleEvidence(ACT, 1.0)])
    assert (routing.intent, routing.p_execution, routing.decided_by) == (ASK, 0.0, DecidedBy.NO_TOOLS)
    assert not routing.is_uncertain()


def test_the_head_decides_where_there_are_no_examples() -> None:
    routing = decide(0.9, tools=[TOOL], best_passage=0.0)
    assert (routing.intent, routing.confidence, routing.decided_by) == (ACT, pytest.approx(0.9), DecidedBy.ROUTER)
    assert (routing.best_tool, routing.best_tool_similarity, routing.best_passage) == ("pay_bill", 0.6, 0.0)


def test_a_passage_that_answers_speaks_for_a_question_and_none_that_does_for_nothing() -> None:
    answers, in_part, irrelevant = (
        decide(0.6, tools=[TOOL], best_passage=best).p_execution for best in (1.0, 0.5, 0.0)
    )
    assert answers < in_part < 0.5 < irrelevant
    assert irrelevant == pytest.approx(decide(0.6, tools=[TOOL]).p_execution)


@given(probabilities, probabilities)
def test_documents_that_are_not_searched_could_not_have_changed_the_decision(p: float, relevance: float) -> None:
    if not may_turn_on_a_passage(p):
        searched = decide(p, tools=[TOOL], best_passage=relevance)
        unsearched = decide(p, tools=[TOOL])
        assert (searched.intent, searched.is_uncertain()) == (unsearched.intent, unsearched.is_uncertain())


@pytest.mark.parametrize(("p", "intent"), [(0.001, ACT), (0.999, ASK)])
def test_an_example_that_is_the_message_itself_decides_against_the_head(p: float, intent: Intent) -> None:
    routing = decide(p, tools=[TOOL], best_passage=None, examples=[ExampleEvidence(intent, 1.0)])
    assert (routing.intent, routing.decided_by) == (intent, DecidedBy.EXAMPLES)
    assert routing.confidence > 0.9


def test_an_example_on_another_matter_changes_nothing() -> None:
    assert with_examples(0.3, [ExampleEvidence(ACT, 0.6), ExampleEvidence(ACT, -1.0)]) == pytest.approx(0.3)


def test_equally_near_examples_of_both_intents_leave_the_decision_to_the_head() -> None:
    both = [ExampleEvidence(ACT, 0.9), ExampleEvidence(ASK, 0.9)]
    assert with_examples(0.3, both) == pytest.approx(0.3)


def test_many_copies_of_an_example_weigh_as_much_as_one() -> None:
    once = with_examples(0.2, [ExampleEvidence(ACT, 0.8)])
    assert with_examples(0.2, [ExampleEvidence(ACT, 0.8)] * 8) == once


@given(probabilities, evidence)
def test_a_probability_stays_one(p: float, examples: list[ExampleEvidence]) -> None:
    assert 0 <= with_examples(p, examples) <= 1


@given(probabilities, cosines, cosines)
def test_a_nearer_example_never_moves_the_probability_less(p: float, one: float, other: float) -> None:
    near, far = max(one, other), min(one, other)
    assert with_examples(p, [ExampleEvidence(ACT, near)]) >= with_examples(p, [ExampleEvidence(ACT, far)]) - 1e-9


def test_only_what_the_router_decided_itself_can_be_uncertain() -> None:
    middle = (BAND.low + BAND.high) / 2
    assert decide(middle, tools=[TOOL], best_passage=None).is_uncertain()
    assert not decide(BAND.high, tools=[TOOL], best_passage=None).is_uncertain()
    assert not Routing(middle, DecidedBy.AGENT).is_uncertain()
    assert not Routing(middle, DecidedBy.SMALL_TALK).is_uncertain()
    assert Routing(0.9, DecidedBy.ROUTER).is_uncertain(UncertainBand(0.05, 0.95))
