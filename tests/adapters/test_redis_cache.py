"""A shared cache that is dead, slow or mad is a miss, soon, and costs nothing for a while."""

import datetime as dt
import ipaddress
import logging
import socket
import ssl
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from tests.fakes.valkey_server import Valkey, valkey_server

from botforge.adapters.cache.redis import RedisCache

# A call may take 50 ms. A busy machine may take longer to notice, so the tests only tell "soon" from "never".
SOON_S = 5.0

Behaviour = Callable[[socket.socket, threading.Event], None]


@contextmanager
def server(behave: Behaviour, context: ssl.SSLContext | None = None) -> Generator[str]:
    """A TCP server that treats each connection to ``behave``; gives its address."""
    over = threading.Event()
    listener = socket.create_server(("127.0.0.1", 0))
    threads: list[threading.Thread] = []

    def treat(connection: socket.socket) -> None:
        with connection:
            try:
                if context is not None:
                    with context.wrap_socket(connection, server_side=True) as secured:
                        behave(secured, over)
                else:
                    behave(connection, over)
            except OSError:
                return  # the cache hung up on us

    def accept() -> None:
        while True:
            connection, _ = listener.accept()
            if over.is_set():
                connection.close()
                return
            thread = threading.Thread(target=treat, args=(connection,))
            thread.start()
            threads.append(thread)

    acceptor = threading.Thread(target=accept)
    acceptor.start()
    address = f"127.0.0.1:{listener.getsockname()[1]}"
    try:
        yield address
    finally:
        over.set()
        socket.create_connection(listener.getsockname()).close()
        acceptor.join()
        for thread in threads:
            thread.join()
        listener.close()


def hang(_: socket.socket, over: threading.Event) -> None:
    over.wait()


def trickle(connection: socket.socket, over: threading.Event) -> None:
    """Announce a long value and send a byte of it now and then, each within any socket timeout."""
    connection.recv(4_096)
    connection.sendall(b"$1000000\r\n")
    while not over.wait(0.01):
        connection.sendall(b"x")


def trickle_a_line(connection: socket.socket, over: threading.Event) -> None:
    connection.recv(4_096)
    while not over.wait(0.01):
        connection.sendall(b"+")


def close_at_once(connection: socket.socket, _: threading.Event) -> None:
    connection.recv(4_096)


def speak(words: bytes) -> Behaviour:
    def say(connection: socket.socket, over: threading.Event) -> None:
        connection.recv(4_096)
        connection.sendall(words)
        over.wait()

    return say


GARBAGE = [
    b"HTTP/1.1 400 Bad Request\r\n\r\n",
    b"\x00\xff\xfe\r\n",
    b":12\r\n",
    b"*2\r\n$1\r\na\r\n$1\r\nb\r\n",
    b"$-5\r\n",
    b"$99999999999999999999\r\n",
    b"$abc\r\n",
    b"-ERR no\r\n",
    b"-NOAUTH Authentication required.\r\n",
    b"-LOADING Redis is loading the dataset in memory\r\n",
    b"-MOVED 1 10.0.0.1:6379\r\n",
    b"\r\n",
    b"%1\r\n",
]


@pytest.mark.parametrize(
    "behave",
    [hang, trickle, trickle_a_line, close_at_once, *[speak(words) for words in GARBAGE]],
    ids=["hang", "trickle", "trickle_a_line", "close_at_once", *[repr(words) for words in GARBAGE]],
)
def test_a_server_that_gives_no_reply_of_use_is_a_miss_soon(behave: Behaviour) -> None:
    with server(behave) as address:
        cache = RedisCache(f"redis://{address}/0")
        start = time.monotonic()
        found = cache.get("key")
        cache.set("key", b"value", ttl=60)
        took = time.monotonic() - start
        cache.close()

    assert found is None
    assert took < SOON_S


@pytest.mark.parametrize("url", ["redis://{0}", "redis://user:secret@{0}/3", "rediss://{0}"])
def test_a_server_that_is_not_there_is_a_miss(url: str) -> None:
    with socket.socket() as taken:  # bound and not listening: connections are refused
        taken.bind(("127.0.0.1", 0))
        cache = RedisCache(url.format(f"127.0.0.1:{taken.getsockname()[1]}"))

        assert cache.get("key") is None
        cache.close()


@pytest.mark.parametrize("behave", [hang, trickle])
def test_a_failure_is_paid_for_once_and_then_nothing_is_asked_for_a_while(behave: Behaviour) -> None:
    asked: list[int] = []
    now = 0.0

    def counted(connection: socket.socket, over: threading.Event) -> None:
        asked.append(1)
        behave(connection, over)

    with server(counted) as address:
        cache = RedisCache(f"redis://{address}", pause_s=5.0, monotonic=lambda: now)
        for _ in range(100):
            assert cache.get("key") is None
        assert len(asked) == 1

        now = 5.0
        assert cache.get("key") is None
        cache.close()

    assert len(asked) == 2


def test_the_cache_is_used_again_once_it_answers() -> None:
    answers = iter([b"-LOADING\r\n", b"$5\r\nvalue\r\n"])
    now = 0.0

    def recover(connection: socket.socket, over: threading.Event) -> None:
        speak(next(answers))(connection, over)

    with server(recover) as address:
        cache = RedisCache(f"redis://{address}", timeout_s=SOON_S, pause_s=5.0, monotonic=lambda: now)
        assert cache.get("key") is None
        now = 5.0
        assert cache.get("key") == b"value"
        cache.close()


def test_a_connection_that_died_while_idle_is_replaced_within_the_call() -> None:
    """A freeze of the execution environment, or the server's own time-out, leaves a socket that is closed."""
    hung_up = threading.Semaphore(0)

    def answer_once(connection: socket.socket, _: threading.Event) -> None:
        connection.recv(4_096)
        connection.sendall(b"$5\r\nvalue\r\n")
        connection.shutdown(socket.SHUT_RDWR)
        hung_up.release()

    with server(answer_once) as address:
        cache = RedisCache(f"redis://{address}", timeout_s=SOON_S)
        assert cache.get("key") == b"value"
        hung_up.acquire()
        assert cache.get("key") == b"value"
        cache.close()


def test_a_late_reply_never_answers_the_next_question() -> None:
    """The classic fault of a shared connection: after a time-out the next command reads its predecessor's reply."""
    asked_in_vain = threading.Event()
    now = 0.0

    def reply_late(connection: socket.socket, _: threading.Event) -> None:
        while question := connection.recv(4_096):
            if b"first" in question:
                asked_in_vain.wait()
                connection.sendall(b"$5\r\nfirst\r\n")
            else:
                connection.sendall(b"$6\r\nsecond\r\n")

    with server(reply_late) as address:
        cache = RedisCache(f"redis://{address}", pause_s=0.0, monotonic=lambda: now)
        assert cache.get("first") is None
        asked_in_vain.set()
        replies = {cache.get("second") for _ in range(100)}
        cache.close()

    assert b"second" in replies
    assert replies <= {b"second", None}  # None: this machine was too busy


def test_a_reply_of_the_wrong_kind_ends_its_connection() -> None:
    """Who knows what follows it: read on, and the rest would be the answer to another question."""
    now = 0.0

    with server(speak(b":1\r\n$5\r\nstale\r\n")) as address:
        cache = RedisCache(f"redis://{address}", timeout_s=SOON_S, pause_s=0.0, monotonic=lambda: now)
        replies = [cache.get("key") for _ in range(3)]
        cache.close()

    assert replies == [None, None, None]


def test_a_value_above_the_bound_is_a_miss_whoever_stored_it() -> None:
    with server(speak(b"$11\r\n0123456789x\r\n")) as address:
        cache = RedisCache(f"redis://{address}", timeout_s=SOON_S, max_value_bytes=10)

        assert cache.get("key") is None
        cache.close()


def test_the_log_tells_of_a_dead_cache_once_and_without_its_password(caplog: pytest.LogCaptureFixture) -> None:
    with server(speak(b"-ERR secret\r\n")) as address, caplog.at_level(logging.DEBUG):
        cache = RedisCache(f"redis://user:secret@{address}", timeout_s=SOON_S)
        for _ in range(10):
            cache.get("key")
        cache.close()

    records = [record for record in caplog.records if record.name.startswith("botforge")]
    assert len(records) == 1
    assert "secret" not in records[0].getMessage()
    assert records[0].exc_info is None


# ---------------------------------------------------------------- a real server


@pytest.fixture(scope="module")
def valkey() -> Generator[Valkey]:
    with valkey_server() as running:
        yield running


def test_a_value_is_stored_under_the_prefix_with_its_time_to_live(valkey: Valkey) -> None:
    cache = RedisCache(valkey.url, prefix="test:", timeout_s=SOON_S)
    cache.set("key", b"value", ttl=100)
    cache.close()

    assert valkey.command("GET test:key") == "$5\r\nvalue\r\n"
    assert valkey.command("TTL test:key") in {":100\r\n", ":99\r\n"}


def test_a_connection_sends_nothing_but_what_it_needs(valkey: Valkey) -> None:
    assert valkey.command("CONFIG RESETSTAT") == "+OK\r\n"
    cache = RedisCache(valkey.url, timeout_s=SOON_S)
    cache.get("key")
    cache.close()

    statistics = valkey.command("INFO commandstats")
    commands = {line.split(":")[0] for line in statistics.splitlines() if line.startswith("cmdstat_")}
    assert commands <= {"cmdstat_get", "cmdstat_config|resetstat"}


# ---------------------------------------------------------------- TLS


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A certificate for 127.0.0.1, signed by itself, and its key."""
    folder = tmp_path_factory.mktemp("tls")
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "cache")])
    now = dt.datetime.now(dt.UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - dt.timedelta(days=1))
        .not_valid_after(now + dt.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(
            x509.KeyUsage(
                digital_signature=True,
                key_cert_sign=True,
                crl_sign=True,
                content_commitment=False,
                key_encipherment=False,
                data_encipherment=False,
                key_agreement=False,
                encipher_only=False,
                decipher_only=False,
            ),
            critical=True,
        )
        .sign(key, hashes.SHA256())
    )
    (folder / "cert.pem").write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    (folder / "key.pem").write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    return folder / "cert.pem", folder / "key.pem"


def test_a_value_comes_over_tls_from_a_server_whose_certificate_is_trusted(certificate: tuple[Path, Path]) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*certificate)
    with server(speak(b"$5\r\nvalue\r\n"), context) as address:
        trusting = RedisCache(f"rediss://{address}?ssl_ca_certs={certificate[0]}", timeout_s=SOON_S)
        wary = RedisCache(f"rediss://{address}", timeout_s=SOON_S)

        assert trusting.get("key") == b"value"
        assert wary.get("key") is None
        trusting.close()
        wary.close()


def test_a_server_that_stops_in_the_middle_of_the_tls_handshake_is_a_miss_soon() -> None:
    with server(hang) as address:
        cache = RedisCache(f"rediss://{address}")
        start = time.monotonic()

        assert cache.get("key") is None
        assert time.monotonic() - start < SOON_S
        cache.close()
