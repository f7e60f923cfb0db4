"""Child processes that do not outlive us, and ports for them."""

import atexit
import ctypes
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from pathlib import Path
from typing import IO

from botforge_dev.local import guardian

# Children's bytecode, kept in one place. Some machines forbid Python to write any; compiling everything anew each time
# is most of what starting a child takes.
BYTECODE = {"PYTHONPYCACHEPREFIX": str(Path(sys.prefix) / "bytecode")}
_PR_SET_PDEATHSIG = 1
# To Linux the "parent" whose death counts is the thread that forked: it has to live as long as we do.
_SPAWNER = ThreadPoolExecutor(max_workers=1, thread_name_prefix="spawner")


class _Guardian:
    """Our end of the pipe on which a guardian process waits; started when there is first something to guard."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[str] | None = None

    def watch(self, target: int, number: signal.Signals) -> None:
        self._say(f"+{target} {int(number)}\n")

    def forget(self, target: int) -> None:
        self._say(f"-{target}\n")

    def _say(self, line: str) -> None:
        with self._lock:
            if self._process is None:
                self._process = subprocess.Popen(  # noqa: S603 - our own program
                    [sys.executable, "-I", "-S", guardian.__file__],
                    stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                    text=True, cwd="/", start_new_session=True,
                )  # fmt: skip
                atexit.register(self._end)
            pipe = self._process.stdin
            if pipe is not None:
                with suppress(BrokenPipeError):  # somebody killed it; Linux's own means are left
                    pipe.write(line)
                    pipe.flush()

    def _end(self) -> None:
        if self._process is not None:
            try:
                self._process.communicate(timeout=2)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()


_GUARDIAN = _Guardian()


def guard(target: int, number: signal.Signals) -> None:
    """Have ``number`` sent to a process (negative: to a group) when we end without having called ``unguard``."""
    _GUARDIAN.watch(target, number)


def unguard(target: int) -> None:
    _GUARDIAN.forget(target)


def free_port() -> int:
    """A port of 127.0.0.1 that nobody listens on now."""
    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def is_free(port: int) -> bool:
    """Whether a server could listen on this port of 127.0.0.1."""
    with closing(socket.socket()) as caller:
        caller.settimeout(1)
        if caller.connect_ex(("127.0.0.1", port)) == 0:
            return False  # not all systems refuse the bind below when somebody listens on every address
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
    """Start a child in a session of its own (Ctrl-C reaches us alone) that dies when we do, on Linux at once.

    Its environment is ours unless ``env`` is given.
    End it with ``stop`` or ``kill``.
    """

    ours = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}

    def spawn() -> subprocess.Popen[bytes]:
        return subprocess.Popen(  # noqa: S603 - our own commands
            list(command),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            env=dict(ours if env is None else env) | BYTECODE,
            cwd=cwd,
            start_new_session=True,
            preexec_fn=_die_with_parent(),  # noqa: PLW1509 - one system call, and nothing that takes a lock
        )

    process = _SPAWNER.submit(spawn).result()
    guard(-process.pid, signal.SIGKILL)
    return process


def stop(process: subprocess.Popen[bytes], *, patience_s: float = 3) -> None:
    """End a child and all that it started: politely, then not."""
    if process.poll() is None:
        _signal(process, signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            process.wait(patience_s)
    kill(process)


def kill(process: subprocess.Popen[bytes]) -> None:
    """End a child and all that it started, also what it left behind if it has ended already."""
    _signal(process, signal.SIGKILL)
    process.wait()
    unguard(-process.pid)


def command_of(pid: int) -> str:
    """A running process's command line, words divided by spaces; empty if there is no such process."""
    if sys.platform == "linux":
        try:
            return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            return ""
    found = subprocess.run(["/bin/ps", "-ww", "-o", "args=", "-p", str(pid)], stdout=subprocess.PIPE, check=False)  # noqa: S603
    return found.stdout.decode(errors="replace")


def _signal(process: subprocess.Popen[bytes], number: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):  # ended meanwhile; macOS says so of zombies by the latter
        os.killpg(process.pid, number)


def _die_with_parent() -> Callable[[], None] | None:
    if sys.platform != "linux":
        return None
    libc = ctypes.CDLL(None, use_errno=True)
    return lambda: libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
