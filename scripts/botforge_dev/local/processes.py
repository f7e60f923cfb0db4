"""Child processes that do not outlive us, and ports for them."""

import ctypes
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import IO

_PR_SET_PDEATHSIG = 1
# To Linux the "parent" whose death counts is the thread that forked: it has to live as long as we do.
_SPAWNER = ThreadPoolExecutor(max_workers=1, thread_name_prefix="spawner")


def free_port() -> int:
    """A port of 127.0.0.1 that nobody listens on now."""
    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def is_free(port: int) -> bool:
    with closing(socket.socket()) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def start(
    command: Sequence[str], *, log: IO[bytes], env: Mapping[str, str] | None = None, cwd: Path | None = None
) -> subprocess.Popen[bytes]:
    """Start a child in a session of its own (Ctrl-C reaches us alone) that dies when we do, on Linux at once."""

    def spawn() -> subprocess.Popen[bytes]:
        return subprocess.Popen(  # noqa: S603 - our own commands
            list(command),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            env=None if env is None else dict(env),
            cwd=cwd,
            start_new_session=True,
            preexec_fn=_die_with_parent(),  # noqa: PLW1509 - one system call, and nothing that takes a lock
        )

    return _SPAWNER.submit(spawn).result()


def stop(process: subprocess.Popen[bytes], *, patience_s: float = 3) -> None:
    """End a child and all that it started: politely, then not."""
    if process.poll() is None:
        _signal(process, signal.SIGTERM)
        try:
            process.wait(patience_s)
        except subprocess.TimeoutExpired:
            _signal(process, signal.SIGKILL)
            process.wait()


def kill(process: subprocess.Popen[bytes]) -> None:
    _signal(process, signal.SIGKILL)
    process.wait()


def _signal(process: subprocess.Popen[bytes], number: signal.Signals) -> None:
    try:
        os.killpg(process.pid, number)
    except ProcessLookupError:
        return  # it has ended meanwhile


def _die_with_parent() -> Callable[[], None] | None:
    if sys.platform != "linux":
        return None
    libc = ctypes.CDLL(None, use_errno=True)
    return lambda: libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
