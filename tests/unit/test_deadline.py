"""A deadline on a clock that the test holds."""

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from botforge.domain.deadline import Deadline
from botforge.domain.errors import DeadlineExceeded

moments = st.floats(0, 1e6)
spans = st.floats(0, 1e4)


@dataclass(slots=True)
class Clock:
    now: float

    def __call__(self) -> float:
        return self.now


@given(start=moments, seconds=spans, passed=spans)
def test_what_remains_is_what_was_given_less_what_has_passed_and_never_negative(
    start: float, seconds: float, passed: float
) -> None:
    clock = Clock(start)
    deadline = Deadline.after(seconds, clock)
    clock.now += passed

    assert deadline.remaining() >= 0
    assert deadline.remaining() == pytest.approx(max(0.0, seconds - passed), abs=1e-6)


@given(start=moments, seconds=spans, passed=spans)
def test_a_deadline_that_has_passed_is_raised_and_no_other(start: float, seconds: float, passed: float) -> None:
    clock = Clock(start)
    deadline = Deadline.after(seconds, clock)
    clock.now += passed

    if deadline.remaining() > 0:
        deadline.check()
    else:
        with pytest.raises(DeadlineExceeded):
            deadline.check()


def test_the_very_moment_is_too_late() -> None:
    clock = Clock(100.0)
    deadline = Deadline.after(5, clock)
    clock.now = 105.0

    with pytest.raises(DeadlineExceeded):
        deadline.check()


@given(start=moments, seconds=spans, kept=spans)
def test_a_reserve_is_kept_from_the_same_clock(start: float, seconds: float, kept: float) -> None:
    clock = Clock(start)
    deadline = Deadline.after(seconds, clock)
    earlier = deadline.less(kept)

    assert earlier.remaining() <= deadline.remaining()
    assert earlier.remaining() == pytest.approx(max(0.0, seconds - kept), abs=1e-6)
    clock.now += seconds + 1
    assert earlier.remaining() == deadline.remaining() == 0


@given(seconds=st.floats(max_value=0, min_value=-1e6))
def test_a_deadline_in_the_past_leaves_nothing(seconds: float) -> None:
    assert Deadline.after(seconds, Clock(1e6)).remaining() == 0
