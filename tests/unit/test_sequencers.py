"""The order of events on one key."""

from hypothesis import given
from hypothesis import strategies as st

from botforge.domain.document import is_newer

sequencers = st.text("0123456789abcdefABCDEF", min_size=1, max_size=24)


def value(sequencer: str) -> int:
    """The number that a sequencer stands for, as if all had the same length."""
    return int(sequencer.ljust(32, "0"), 16)


@given(one=sequencers, other=sequencers)
def test_the_later_of_two_events_is_the_one_with_the_greater_number(one: str, other: str) -> None:
    assert is_newer(one, other) == (value(one) > value(other))


@given(one=sequencers, other=sequencers)
def test_never_are_two_events_each_newer_than_the_other(one: str, other: str) -> None:
    assert not (is_newer(one, other) and is_newer(other, one))


@given(one=sequencers, zeros=st.integers(0, 10))
def test_an_event_that_is_delivered_again_is_not_newer(one: str, zeros: int) -> None:
    assert not is_newer(one, one)
    assert not is_newer(one + "0" * zeros, one)
    assert not is_newer(one, one + "0" * zeros)
    assert not is_newer(one.upper(), one.lower())


@given(events=st.permutations(["0055AED6DCD90281E5", "0055AED6DCD90281E6", "0055AED6DCD90281E51", "1"]))
def test_whatever_order_events_arrive_in_the_last_one_stays(events: list[str]) -> None:
    latest: str | None = None
    for event in events:
        if is_newer(event, latest):
            latest = event

    assert latest == "1"


@given(one=sequencers | st.none())
def test_an_event_that_cannot_be_compared_counts_as_newer(one: str | None) -> None:
    assert is_newer(None, one)
    assert is_newer(one, None)
