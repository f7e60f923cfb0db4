"""What the local stack starts ends with it, however that goes; what it keeps is kept by one stack at a time."""

import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from botforge_dev.local import processes
from botforge_dev.local.data_folder import DataFolder, FolderError
from botforge_dev.local.postgres import Postgres, PostgresError

_PARENT = """
import pathlib, signal, subprocess, sys, time
from botforge_dev.local import processes
# SIGINT as by default: a shell that runs the tests in the background has it ignored, and children inherit that.
deaf = "signal.signal(signal.SIGTERM, signal.SIG_IGN); signal.signal(signal.SIGINT, signal.SIG_DFL)"
child = [sys.executable, "-c", f"import signal, time; {deaf}; print(1, flush=True); time.sleep(600)"]
with open(sys.argv[1] + ".log", "wb") as log:
    held = processes.start(child, log=log)
orphan = subprocess.Popen(child, start_new_session=True, stdout=subprocess.PIPE)
orphan.stdout.readline()
processes.guard(orphan.pid, signal.SIGINT)
ended = processes.start([sys.executable, "-c", ""], log=open(sys.argv[1] + ".log", "ab"))
processes.stop(ended)
print(held.pid, orphan.pid, flush=True)
time.sleep(600)
"""


def _is_alive(pid: int) -> bool:
    """Zombies are not: nobody has to reap them for a port to be free."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def _await_end(*pids: int) -> None:
    tick = threading.Event()
    for _ in range(1_000):
        if not any(_is_alive(pid) for pid in pids):
            return
        tick.wait(0.02)
    raise AssertionError(f"still running: {[pid for pid in pids if _is_alive(pid)]}")


@pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc")
def test_a_killed_supervisor_takes_along_what_it_started(tmp_path: Path) -> None:
    command = [sys.executable, "-c", _PARENT, str(tmp_path / "parent")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as parent:  # noqa: S603 - our own
        assert parent.stdout is not None
        held, orphan = map(int, parent.stdout.readline().split())
        assert _is_alive(held)
        assert _is_alive(orphan)
        parent.kill()
        _await_end(held, orphan)


def test_a_child_that_ignores_sigterm_is_stopped_all_the_same(tmp_path: Path) -> None:
    deaf = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print(1, flush=True); time.sleep(600)"
    log = tmp_path / "log"
    with log.open("wb") as file:
        child = processes.start([sys.executable, "-c", deaf], log=file)
    tick = threading.Event()
    while not log.read_bytes():
        tick.wait(0.02)
    processes.stop(child, patience_s=0.2)
    assert child.returncode == -signal.SIGKILL


def test_a_port_that_somebody_listens_on_is_not_free() -> None:
    for address in ("127.0.0.1", "0.0.0.0"):  # noqa: S104 - that a server on every address counts is the point
        with socket.socket() as server:
            server.bind((address, 0))
            server.listen()
            port = server.getsockname()[1]
            assert not processes.is_free(port)
        assert processes.is_free(port)


def test_a_data_folder_serves_one_stack_at_a_time(tmp_path: Path) -> None:
    folder = DataFolder(tmp_path / "data")
    folder.acquire()
    with pytest.raises(FolderError, match=f"is being served by process {os.getpid()}"):
        DataFolder(tmp_path / "data").acquire()
    folder.release()
    again = DataFolder(tmp_path / "data")
    again.acquire()
    again.release()


def test_a_folder_with_other_things_in_it_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("years of work")
    with pytest.raises(FolderError, match="holds something else"):
        DataFolder(tmp_path).acquire()
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


def test_clearing_removes_everything_but_not_what_links_point_to(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "file").touch()
    folder = DataFolder(tmp_path / "data")
    folder.acquire()
    secret = folder.secret("password")
    assert folder.secret("password") == secret
    (folder.path / "link").symlink_to(elsewhere)
    (folder.path / "aws" / "objects").mkdir(parents=True)
    folder.clear()
    assert sorted(path.name for path in folder.path.iterdir()) == ["logs", "serve.lock"]
    assert (elsewhere / "file").exists()
    assert folder.secret("password") != secret
    folder.release()


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Postgres]:
    server = Postgres(tmp_path / "a folder's name" / "postgres", processes.free_port())
    server.start()
    try:
        yield server
    finally:
        server.destroy()


def _answer(server: Postgres) -> object:
    with psycopg.connect(server.dsn()) as connection:
        row = connection.execute("select value from kept").fetchone()
    return row[0] if row else None


def test_a_cluster_keeps_its_data_whatever_happens_between_two_starts(cluster: Postgres) -> None:
    with psycopg.connect(cluster.dsn(), autocommit=True) as connection:
        connection.execute("create table kept as select 42 as value")
        connection.execute("checkpoint")
    cluster.start()  # while it runs: a supervisor that was killed has left it
    assert _answer(cluster) == 42
    pid = cluster.pid
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    _await_end(pid)
    cluster.port = processes.free_port()
    cluster.start()
    assert _answer(cluster) == 42
    cluster.stop()
    assert cluster.pid is None
    # As after a power cut, when the number in the file has become another process's.
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as bystander:
        (cluster.data / "postmaster.pid").write_text(f"{bystander.pid}\n{cluster.data}\n")
        cluster.start()
        assert _answer(cluster) == 42
        assert bystander.poll() is None
        bystander.communicate(b"\n")


def test_an_interrupted_set_up_is_made_anew(tmp_path: Path) -> None:
    server = Postgres(tmp_path / "postgres", processes.free_port())
    server.data.with_name(f"{server.data.name}.partial").mkdir(parents=True)
    (server.folder).mkdir(exist_ok=True)
    (server.folder / "password").write_text("of the first try")
    try:
        server.start()
        with psycopg.connect(server.dsn()) as connection:
            assert connection.execute("select 1").fetchone() == (1,)
    finally:
        server.destroy()


def test_nothing_is_left_of_a_destroyed_cluster(cluster: Postgres) -> None:
    data, port = cluster.data, cluster.port
    cluster.destroy()
    assert not data.exists()
    assert not cluster.folder.exists()
    assert processes.is_free(port)


def test_a_cluster_that_cannot_start_says_why(cluster: Postgres) -> None:
    cluster.stop()
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        cluster.port = other.getsockname()[1]
        with pytest.raises(PostgresError, match="Address already in use"):
            cluster.start()
