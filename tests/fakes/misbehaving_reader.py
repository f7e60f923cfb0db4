"""A reader's process that does to itself what a hostile document could do to it: run it in place of the real child."""

import os
import signal
import sys
from collections.abc import Callable

from botforge.adapters.extract import child


def spin() -> None:
    while True:
        pass


def flood() -> None:
    while True:
        sys.stdout.buffer.write(b"x" * 1_000_000)


def leave() -> None:
    os._exit(3)


def signalled(number: int) -> Callable[[], None]:
    return lambda: os.kill(os.getpid(), number)


_DEEDS: dict[str, Callable[[], None]] = {
    "spin.txt": spin,
    "flood.txt": flood,
    "exit.txt": leave,
    "segv.txt": signalled(signal.SIGSEGV),
    "kill.txt": signalled(signal.SIGKILL),
    "abort.txt": signalled(signal.SIGABRT),
}


def main(memory: str, cpu: str, filename: str, content_type: str) -> None:
    if filename in _DEEDS:
        child.set_limits(memory_bytes=int(memory), cpu_seconds=int(cpu))
        _DEEDS[filename]()
    else:
        sys.stdin = None  # the real child then fails as it does without its libraries
        child.main([memory, cpu, filename, content_type])


if __name__ == "__main__":
    main(*sys.argv[1:])
