"""Cores, programs and percentiles."""

import json
import os
import subprocess
import sys
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median, quantiles
from typing import Any


class BenchmarkFailed(Exception):
    """A contestant did not run; the message carries what it said."""


def percentile(values: Sequence[float], percent: int) -> float:
    return quantiles(values, n=100, method="inclusive")[percent - 1]


def p50(values: Sequence[float]) -> float:
    return median(values)


def p99(values: Sequence[float]) -> float:
    return percentile(values, 99)


def one_core() -> frozenset[int] | None:
    """The core that everything is pinned to; None where the system cannot pin."""
    return frozenset({max(os.sched_getaffinity(0))}) if sys.platform == "linux" else None


@contextmanager
def pinned() -> Generator[None]:
    """This process, and whatever it starts meanwhile, on one core."""
    core = one_core()
    if core is None:
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, core)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def call(command: Sequence[str], env: Mapping[str, str], job: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Run a program once, on one core; it reads ``job`` as JSON and its last line is the JSON that it found."""
    with pinned():
        done = subprocess.run(  # noqa: S603 - our own programs
            command, env=dict(env), input=json.dumps(job or {}), capture_output=True, text=True, check=False
        )
    if done.returncode != 0:
        raise BenchmarkFailed(f"{' '.join(command)}:\n{done.stderr[-3_000:]}")
    return json.loads(done.stdout.splitlines()[-1])


class Worker:
    """A program on one core that takes a JSON line and answers with one, as often as it is asked."""

    def __init__(self, command: Sequence[str], env: Mapping[str, str], log: Path) -> None:
        self._command, self._log = command, log
        with pinned(), log.open("w") as errors:
            self._process = subprocess.Popen(  # noqa: S603 - our own programs
                command, env=dict(env), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True
            )

    def ask(self, **job: Any) -> Any:  # noqa: ANN401 - any JSON
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None and stdout is not None  # noqa: S101, PT018 - both are pipes
        try:
            stdin.write(json.dumps(job) + "\n")
            stdin.flush()
            line = stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            raise BenchmarkFailed(f"{' '.join(self._command)}:\n{self._log.read_text()[-3_000:]}")
        return json.loads(line)

    def close(self) -> None:
        self._process.terminate()
        self._process.communicate()
