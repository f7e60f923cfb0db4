"""What every Cache keeps to: the one in memory, and the shared one on a real Valkey."""

from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor

import pytest
from tests.fakes.valkey_server import valkey_server

from botforge.adapters.cache.memory import MemoryCache
from botforge.adapters.cache.redis import RedisCache
from botforge.ports.cache import Cache

PATIENT_S = 10.0  # these tests are about values; a busy machine must not turn a hit into a miss

KEYS = ["plain", "with space", "line\r\nbreak", "😀 تقرير", "", "a" * 5_000, "\udc80", "*", "\x00"]


@pytest.fixture(scope="module")
def valkey_url() -> Generator[str]:
    with valkey_server() as valkey:
        yield valkey.url


@pytest.fixture(params=["memory", "valkey"])
def cache(request: pytest.FixtureRequest, valkey_url: str) -> Generator[Cache]:
    if request.param == "memory":
        yield MemoryCache(max_bytes=1_000_000)
        return
    shared = RedisCache(valkey_url, prefix=f"{request.node.name}:", timeout_s=PATIENT_S, max_value_bytes=1_000_000)
    yield shared
    shared.close()


def test_what_was_never_set_is_a_miss(cache: Cache) -> None:
    assert cache.get("unknown") is None


@pytest.mark.parametrize("key", KEYS)
def test_any_key_brings_back_its_own_value(cache: Cache, key: str) -> None:
    cache.set(key, key.encode("utf-8", "surrogatepass") + b"!", ttl=60)
    cache.set(key + "'", b"another", ttl=60)

    assert cache.get(key) == key.encode("utf-8", "surrogatepass") + b"!"


@pytest.mark.parametrize("value", [b"", b"\x00", b"\r\n$-1\r\n", bytes(range(256)) * 100, b"x" * 900_000])
def test_any_bytes_come_back_as_they_were(cache: Cache, value: bytes) -> None:
    cache.set("key", value, ttl=60)

    assert cache.get("key") == value


def test_the_last_value_counts(cache: Cache) -> None:
    cache.set("key", b"one", ttl=60)
    cache.set("key", b"two", ttl=60)

    assert cache.get("key") == b"two"


@pytest.mark.parametrize("ttl", [0, -1])
def test_a_value_without_time_to_live_is_not_kept(cache: Cache, ttl: int) -> None:
    cache.set("key", b"value", ttl=ttl)

    assert cache.get("key") is None


def test_a_value_above_the_bound_is_not_kept(cache: Cache) -> None:
    cache.set("key", b"x" * 1_000_001, ttl=60)

    assert cache.get("key") is None


def test_threads_never_get_each_other_s_values(cache: Cache) -> None:
    def use(number: int) -> bool:
        key, value = f"key-{number % 7}", b"%d" % (number % 7)
        cache.set(key, value, ttl=60)
        return cache.get(key) == value

    with ThreadPoolExecutor(max_workers=8) as pool:
        assert all(pool.map(use, range(200)))
