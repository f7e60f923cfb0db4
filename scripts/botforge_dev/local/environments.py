"""Execution environments: processes that run a function's handler, one invocation at a time, as Lambda does."""

import os
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from botforge_dev.local import processes
from botforge_dev.local.runtime_api import FunctionError, Invocation, RuntimeApi

_INIT_S = 60
_WATCH_S = 0.05
_PASSED_ON = ("PATH", "LANG", "SSL_CERT_FILE", "SSL_CERT_DIR")


@dataclass(frozen=True, slots=True)
class FunctionSpec:
    name: str  # the folder under functions/
    folder: Path
    handler: str
    timeout_s: float
    memory_mb: int
    variables: Mapping[str, str]
    size: int = 1  # environments kept: as many invocations run at a time


class TimedOut(Exception):
    """The function took longer than its time limit; its environment was killed, as Lambda does."""


class Environment:
    """One process and the Runtime API that feeds it."""

    def __init__(self, spec: FunctionSpec, log: Path) -> None:
        self._spec = spec
        self._api = RuntimeApi()
        with log.open("ab") as file:
            self._process: subprocess.Popen[bytes] = processes.start(
                [sys.executable, "-m", _runtime_client(), spec.handler],
                log=file,
                env=self._variables(),
                cwd=spec.folder,
            )

    def await_init(self) -> None:
        """Raises FunctionError if the function's module does not import."""
        until = time.monotonic() + _INIT_S
        while not self._api.initialised.wait(_WATCH_S):
            if self._process.poll() is not None or time.monotonic() > until:
                raise FunctionError({"errorType": "Runtime.ExitError", "errorMessage": "init did not finish"})
        if self._api.init_error is not None:
            raise FunctionError(self._api.init_error)

    def invoke(self, event: Any) -> Any:  # noqa: ANN401 - any JSON
        """The handler's reply. Raises FunctionError or TimedOut; after either of a process's end, start another."""
        arn = f"arn:aws:lambda:us-east-1:000000000000:function:{self._spec.name}"
        invocation = Invocation(event, time.time() + self._spec.timeout_s, arn)
        self._api.submit(invocation)
        while not invocation.done.wait(_WATCH_S):
            if self._process.poll() is not None and not invocation.done.is_set():  # it may have replied as it ended
                raise FunctionError({"errorType": "Runtime.ExitError", "errorMessage": "its process ended"})
            if time.time() > invocation.deadline and not invocation.done.is_set():
                self.close()
                raise TimedOut(f"{self._spec.name} took longer than {self._spec.timeout_s:g} s")
        if invocation.error is not None:
            raise FunctionError(invocation.error)
        return invocation.reply

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    def close(self) -> None:
        processes.kill(self._process)
        self._api.close()

    def _variables(self) -> dict[str, str]:
        """What Lambda sets, what the template declares, and no more of this machine than Python needs."""
        kept = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
        return {
            **kept,
            **self._spec.variables,
            "AWS_LAMBDA_FUNCTION_NAME": self._spec.name,
            "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": str(self._spec.memory_mb),
            "AWS_LAMBDA_FUNCTION_VERSION": "$LATEST",
            "AWS_LAMBDA_INITIALIZATION_TYPE": "on-demand",
            "AWS_LAMBDA_RUNTIME_API": self._api.address,
            "LAMBDA_TASK_ROOT": str(self._spec.folder),
            "_HANDLER": self._spec.handler,
            "PYTHONPATH": str(self._spec.folder),
            "PYTHONUNBUFFERED": "1",
            "TZ": ":UTC",
        }


@dataclass(slots=True)
class Function:
    """A function's environments. Started when first needed or by ``warm``; replaced when they die."""

    spec: FunctionSpec
    log: Path
    _idle: queue.LifoQueue[Environment | None] = field(init=False)
    _all: set[Environment] = field(default_factory=set[Environment], init=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False)
    _closed: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        self._idle = queue.LifoQueue()
        for _ in range(self.spec.size):
            self._idle.put(None)

    def warm(self) -> None:
        """Start one environment, so that the first request need not wait."""
        environment = self._idle.get()
        self._idle.put(environment or self._started())

    def invoke(self, event: Any, *, wait_s: float = 60) -> Any:  # noqa: ANN401 - any JSON
        """Raises FunctionError, TimedOut, or queue.Empty when all environments stay busy for ``wait_s``."""
        environment = self._idle.get(timeout=wait_s)
        try:
            if environment is None or not environment.alive:
                self._forget(environment)
                environment = None
                environment = self._started()
            return environment.invoke(event)
        finally:
            if environment is not None and not environment.alive:
                self._forget(environment)
                environment = None
            self._idle.put(environment)

    def close(self) -> None:
        with self._lock:
            self._closed = True
            environments = list(self._all)
            self._all.clear()
        for environment in environments:
            environment.close()

    def _started(self) -> Environment:
        environment = Environment(self.spec, self.log)
        with self._lock:
            if self._closed:
                environment.close()
                raise FunctionError({"errorType": "Runtime.Shutdown"})
            self._all.add(environment)
        try:
            environment.await_init()
        except FunctionError:
            self._forget(environment)
            raise
        return environment

    def _forget(self, environment: Environment | None) -> None:
        if environment is None:
            return
        with self._lock:
            known = environment in self._all
            self._all.discard(environment)
        if known:
            environment.close()


def _runtime_client() -> str:
    """The real one where it can be installed (Linux); elsewhere a small one of the same protocol."""
    return "awslambdaric" if find_spec("awslambdaric") else "botforge_dev.local.runtime_client"
