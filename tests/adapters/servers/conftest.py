"""MCP servers that others have made, installed on first use into ``.build/tool-servers``."""

import platform
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from botforge_dev.build import toolchain
from botforge_dev.build.layout import ROOT
from botforge_dev.local.processes import free_port

HERE = Path(__file__).parent
HOME = ROOT / ".build" / "tool-servers"
_STARTING_S = 90.0


@dataclass(frozen=True, slots=True)
class NodeServers:
    node: Path
    everything: Path
    conformance: Path


def _made(folder: Path, pins: Path, install: Callable[[], None]) -> None:
    """Install into ``folder`` unless it was made from ``pins`` as they are now. Skips where that cannot be done."""
    stamp = folder / ".pins"
    if stamp.is_file() and stamp.read_text() == pins.read_text():
        return
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    try:
        install()
    except toolchain.BuildFailed as error:
        pytest.skip(f"the servers of {pins.name} cannot be installed here: {error}")
    stamp.write_text(pins.read_text())


@pytest.fixture(scope="session")
def node_servers() -> NodeServers:
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("npm is not installed")
    folder, pins = HOME / "npm", HERE / "package.json"

    def install() -> None:
        shutil.copy(pins, folder)
        toolchain.run(
            [npm, "install", "--prefix", str(folder), "--ignore-scripts", "--no-audit", "--no-fund", "--silent"]
        )

    _made(folder, pins, install)
    packages = folder / "node_modules"
    machine = {"x86_64": "x64", "aarch64": "arm64"}.get(platform.machine(), "none")
    node = packages / f"node-linux-{machine}" / "bin" / "node"
    if not node.is_file():
        pytest.skip("there is no package of Node 22 for this machine, which the conformance suite needs")
    ours = packages / "@modelcontextprotocol"
    return NodeServers(node, ours / "server-everything/dist/index.js", ours / "conformance/dist/index.js")


@pytest.fixture(scope="session")
def python_servers() -> Path:
    """The Python that has fastmcp and mcp-server-time."""
    folder, pins = HOME / "python", HERE / "requirements.txt"
    python = folder / "bin" / "python"

    def install() -> None:
        uv = toolchain.uv()
        toolchain.run([uv, "venv", "-q", "--clear", "-p", sys.executable, str(folder)])
        toolchain.run([uv, "pip", "install", "-q", "-p", str(python), "-r", str(pins)])

    _made(folder, pins, install)
    return python


@pytest.fixture(scope="session")
def alone() -> list[str]:
    """The beginning of a command that runs in a network of its own."""
    command = ["unshare", "-n"]
    if shutil.which("unshare") is None:
        pytest.skip("util-linux's `unshare` is not installed, and these servers listen on all interfaces")
    tried = subprocess.run([*command, "true"], capture_output=True, text=True, check=False)  # noqa: S603
    if tried.returncode != 0:
        pytest.skip(f"this user may not make a network of its own: {tried.stderr.strip()}")
    return [*command, sys.executable, str(HERE / "alone.py")]


@contextmanager
def _serving(python: Path, script: str) -> Generator[str]:
    port = free_port()
    process = subprocess.Popen([str(python), str(HERE / script), str(port)], stderr=subprocess.DEVNULL)  # noqa: S603
    try:
        until = time.monotonic() + _STARTING_S
        while True:
            assert process.poll() is None, f"{script} ended with status {process.returncode}"
            assert time.monotonic() < until, f"{script} did not start"
            try:
                socket.create_connection(("127.0.0.1", port)).close()
            except ConnectionRefusedError:
                time.sleep(0.05)
            else:
                break
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        process.kill()
        process.wait()


@pytest.fixture(scope="module")
def time_server(python_servers: Path) -> Iterator[str]:
    with _serving(python_servers, "time_proxy.py") as url:
        yield url


@pytest.fixture
def fastmcp_server(python_servers: Path) -> Iterator[str]:
    with _serving(python_servers, "fastmcp_server.py") as url:
        yield url
