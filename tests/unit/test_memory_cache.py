"""The bounds of the cache in memory, on a clock that the test holds."""

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from botforge.adapters.cache.memory import MemoryCache


@dataclass(slots=True)
class Clock:
    now: float = 1_000.0

    def __call__(self) -> float:
        return self.now


def test_a_value_lives_exactly_as_long_as_it_was_told_to() -> None:
    clock = Clock()
    cache = MemoryCache(monotonic=clock)
    cache.set("key", b"value", ttl=10)

    clock.now += 9.999
    assert cache.get("key") == b"value"
    clock.now += 0.001
    assert cache.get("key") is None


def test_setting_a_value_again_begins_its_time_anew() -> None:
    clock = Clock()
    cache = MemoryCache(monotonic=clock)
    cache.set("key", b"value", ttl=10)
    clock.now += 9
    cache.set("key", b"value", ttl=10)
    clock.now += 9

    assert cache.get("key") == b"value"


def test_the_least_recently_used_value_goes_first() -> None:
    cache = MemoryCache(max_entries=2)
    cache.set("old", b"1", ttl=60)
    cache.set("older", b"2", ttl=60)
    cache.get("old")
    cache.set("new", b"3", ttl=60)

    assert cache.get("older") is None
    assert cache.get("old") == b"1"
    assert cache.get("new") == b"3"


def test_a_value_that_cannot_be_kept_takes_the_one_it_replaces_with_it() -> None:
    cache = MemoryCache(max_bytes=10)
    cache.set("key", b"small", ttl=60)
    cache.set("key", b"much too large", ttl=60)

    assert cache.get("key") is None


def test_a_caller_who_changes_its_buffer_does_not_change_the_cache() -> None:
    cache = MemoryCache()
    buffer = bytearray(b"before")
    cache.set("key", buffer, ttl=60)  # pyright: ignore[reportArgumentType] - it is what a careless caller does
    buffer[:] = b"after!"

    assert cache.get("key") == b"before"


@pytest.mark.parametrize("max_bytes", [0, 5, 64])
@given(
    steps=st.lists(
        st.tuples(st.sampled_from("abcdef"), st.binary(max_size=20), st.integers(-1, 5), st.floats(0, 3)), max_size=40
    )
)
def test_the_bounds_hold_and_no_stale_value_is_returned_whatever_happens(
    max_bytes: int, steps: list[tuple[str, bytes, int, float]]
) -> None:
    clock = Clock()
    cache = MemoryCache(max_entries=3, max_bytes=max_bytes, monotonic=clock)
    truth: dict[str, tuple[bytes, float]] = {}

    for key, value, ttl, pause in steps:
        cache.set(key, value, ttl=ttl)
        truth[key] = (value, clock.now + ttl)
        clock.now += pause
        held = {name: found for name in "abcdef" if (found := cache.get(name)) is not None}
        assert len(held) <= 3
        assert sum(len(name) + len(found) for name, found in held.items()) <= max_bytes
        assert all(truth[name][0] == found and truth[name][1] > clock.now for name, found in held.items())
