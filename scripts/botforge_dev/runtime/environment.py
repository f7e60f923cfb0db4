"""A Lambda execution environment of one built function, on Linux, in namespaces of its own."""

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any, Self

from botforge_dev.build.layout import RUNTIME
from botforge_dev.local.runtime_api import FunctionError, Invocation, RuntimeApi
from botforge_dev.runtime.confined import Specification
from botforge_dev.runtime.loopback import Bridge, receive_listeners

_SYSTEM = ("/bin", "/etc", "/lib", "/lib64", "/usr")
_STARTING_S = 60.0
_POLL_S = 0.2
_ARN = "arn:aws:lambda:us-east-1:123456789012:function:function"


@dataclass(frozen=True, slots=True)
class Deployment:
    """Where a function's parts lie on this machine."""

    task: Path  # becomes /var/task
    layers: Sequence[Path]  # their folders are merged below /opt
    runtime: Path  # boto3 and the runtime client: becomes /var/runtime
    language: Path  # the prefix of the runtime's Python: becomes /var/lang


def why_not() -> str | None:
    """Why no such environment can be made here; None if it can."""
    if sys.platform != "linux":
        return "namespaces are Linux's"
    if f"{sys.version_info.major}.{sys.version_info.minor}" != RUNTIME:
        return f"the runtime client here is for another Python than {RUNTIME}"
    if shutil.which("unshare") is None:
        return "util-linux's `unshare` is not installed"
    tried = subprocess.run([*_unshare(), "true"], capture_output=True, text=True, check=False)  # noqa: S603
    return None if tried.returncode == 0 else f"this user may not make namespaces: {tried.stderr.strip()}"


def install_runtime(target: Path) -> None:
    """Copy the runtime client and boto3, with what they need, out of this Python's packages: Lambda has no more."""
    target.chmod(0o755)  # the function runs as another user
    pending, seen = ["awslambdaric", "boto3"], set[str]()
    while pending:
        name = pending.pop()
        if name in seen:
            continue
        seen.add(name)
        distribution = metadata.distribution(name)
        pending += [_requirement(line) for line in distribution.requires or () if ";" not in line]
        for file in distribution.files or ():
            if ".." not in file.parts:  # console scripts lie outside
                (target / file).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(str(file.locate()), target / file)


class Environment:
    """A function that is up, warm from its second event on. Use it in a ``with`` block.

    It sees its package, its layers and the runtime where a deployment has them, all read-only; /tmp is the only place
    to write; of the network it sees a loopback on which ``ports`` of this machine answer, and nothing beyond.
    """

    def __init__(self, deployment: Deployment, variables: Mapping[str, str], ports: Sequence[int]) -> None:
        self._api = RuntimeApi()
        self._folder = tempfile.TemporaryDirectory()
        self.log_path = Path(self._folder.name) / "log"
        ours, theirs = socket.socketpair()
        specification = Specification(
            channel=theirs.fileno(),
            root=str(self._make("root")),
            folders=self._folders(deployment),
            hidden=[f"/var/lang/lib/python{RUNTIME}/site-packages"],
            ports=[int(self._api.address.rpartition(":")[2]), *ports],
            command=[f"/var/lang/bin/python{RUNTIME}", "-m", "awslambdaric", "app.handler"],
            variables={**_VARIABLES, "AWS_LAMBDA_RUNTIME_API": self._api.address, **variables},
        )
        with self.log_path.open("wb") as log, theirs:
            self._process = subprocess.Popen(  # noqa: S603
                [*_unshare(), sys.executable, "-m", "botforge_dev.runtime.confined", specification.to_json()],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                pass_fds=[theirs.fileno()],
            )
        with ours:
            ours.settimeout(_STARTING_S)
            try:
                self._bridge = Bridge(receive_listeners(ours, len(specification.ports)))
            except OSError as error:
                raise RuntimeError(self.log()) from error

    def invoke(self, event: Mapping[str, Any], *, timeout_s: float) -> Any:  # noqa: ANN401 - JSON
        """The reply to one event. Raises FunctionError, also when init failed or no reply came in time."""
        until = time.monotonic() + timeout_s
        invocation = Invocation(event, time.time() + timeout_s, _ARN)
        self._api.submit(invocation)
        while not invocation.done.wait(_POLL_S):
            if self._api.init_error is not None:
                raise FunctionError(self._api.init_error)
            if self._process.poll() is not None or time.monotonic() > until:
                raise FunctionError({"errorMessage": f"no reply within {timeout_s:g} s", "log": self.log()})
        if invocation.error is not None:
            raise FunctionError(invocation.error)
        return invocation.reply

    def log(self) -> str:
        """Everything that the function has written so far."""
        return self.log_path.read_text(errors="replace")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()
        self._bridge.close()
        self._api.close()
        self._folder.cleanup()

    def _folders(self, deployment: Deployment) -> dict[str, str]:
        system = {path: path for path in _SYSTEM if Path(path).exists()}
        return {
            **system,
            "/opt": str(self._merged(deployment.layers)),
            "/var/lang": str(deployment.language),
            "/var/runtime": str(deployment.runtime),
            "/var/task": str(deployment.task),
        }

    def _merged(self, layers: Sequence[Path]) -> Path:
        """One folder with every layer's files, later layers over earlier ones, as /opt has them."""
        opt = self._make("opt")
        for layer in layers:
            shutil.copytree(layer, opt, copy_function=_link, dirs_exist_ok=True)
        return opt

    def _make(self, name: str) -> Path:
        path = Path(self._folder.name) / name
        path.mkdir()
        return path


# As the runtime sets them (AWS Lambda developer guide, "Defined runtime environment variables").
_VARIABLES = {
    "AWS_ACCESS_KEY_ID": "testing",
    "AWS_SECRET_ACCESS_KEY": "testing",
    "AWS_SESSION_TOKEN": "testing",
    "AWS_REGION": "us-east-1",
    "AWS_DEFAULT_REGION": "us-east-1",
    "AWS_EXECUTION_ENV": f"AWS_Lambda_python{RUNTIME}",
    "AWS_LAMBDA_FUNCTION_NAME": "function",
    "AWS_LAMBDA_FUNCTION_VERSION": "1",
    "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": "1769",
    "AWS_LAMBDA_INITIALIZATION_TYPE": "on-demand",
    "LAMBDA_TASK_ROOT": "/var/task",
    "LAMBDA_RUNTIME_DIR": "/var/runtime",
    "LANG": "en_US.UTF-8",
    "LD_LIBRARY_PATH": "/var/lang/lib:/lib64:/usr/lib64:/var/runtime:/var/runtime/lib:/var/task:/var/task/lib:/opt/lib",
    "PATH": "/var/lang/bin:/usr/local/bin:/usr/bin/:/bin:/opt/bin",
    "PYTHONPATH": f"/var/task:/opt/python/lib/python{RUNTIME}/site-packages:/opt/python:/var/runtime",
    "TZ": ":UTC",
    "_HANDLER": "app.handler",
}


def _unshare() -> list[str]:
    namespaces = ["unshare", "--mount", "--net", "--pid", "--fork", "--kill-child"]
    return namespaces if os.geteuid() == 0 else [*namespaces, "--map-root-user"]


def _link(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except OSError:  # on another file system
        shutil.copyfile(source, target)


def _requirement(line: str) -> str:
    """The name in a requirement such as ``botocore<1.44,>=1.43``."""
    end = next((index for index, letter in enumerate(line) if not (letter.isalnum() or letter in "-_.")), len(line))
    return line[:end].lower()
