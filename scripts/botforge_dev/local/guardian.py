"""Ends what its parent has started when the parent is gone, however that went: it waits for the end of its input.

A program of its own that needs the standard library alone. Linux can kill a child with its parent, other systems
cannot, and PostgreSQL's server is nobody's child. Lines: ``+TARGET SIGNAL`` to look after a process (a negative number
is a process group, as for ``kill``), ``-TARGET`` once it has ended.
"""

import os
import signal
import sys


def main() -> None:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    watched: dict[int, int] = {}
    for line in sys.stdin:
        target, _, number = line[1:].partition(" ")
        if line.startswith("+"):
            watched[int(target)] = int(number)
        else:
            watched.pop(int(target), None)
    for target, number in watched.items():
        try:
            os.kill(target, number)
        except OSError:
            continue  # it has ended meanwhile


if __name__ == "__main__":
    main()
