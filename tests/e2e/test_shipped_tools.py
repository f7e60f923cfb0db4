"""The layer as it is shipped calls tool servers: what was left out of it is not missed."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.fakes.mcp_servers import mcp_server
from tests.fakes.tool_servers import tool_server

from botforge_dev.build.layout import RUNTIME, Architecture

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

_CALL = """
import sys
sys.path.insert(0, sys.argv[1])
from botforge.adapters.tools.by_protocol import ByProtocolTransport
from botforge.domain.deadline import Deadline
from botforge.domain.tool import ToolProtocol
from botforge.ports.tools import Endpoint, ToolCall
transport = ByProtocolTransport(allow_loopback=True)
for url in sys.argv[2:]:
    found = transport.discover(Endpoint(url, ToolProtocol.AUTO, None), deadline=Deadline.after(60))
    endpoint = Endpoint(url, ToolProtocol.AUTO, found.dialect)
    result = transport.call(endpoint, ToolCall("add", {"a": 25, "b": 17}, {}, None), deadline=Deadline.after(60))
    print(found.dialect, result.content["sum"])
"""


@pytest.mark.skipif(
    sys.version_info[:2] != tuple(int(part) for part in RUNTIME.split(".")),
    reason=f"the layer is built for Python {RUNTIME}",
)
@pytest.mark.skipif(sys.platform != "linux", reason="the layer is built for Linux")
def test_the_shipped_layer_calls_rest_and_mcp_servers(
    build: Callable[[Architecture], Path], own_architecture: Architecture
) -> None:
    layer = build(own_architecture) / "BotforgeLayer" / "python"

    with tool_server() as rest, mcp_server() as mcp:
        command = [sys.executable, "-I", "-S", "-c", _CALL, str(layer), rest.url, mcp.url]
        done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - this interpreter

    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["rest 42", "mcp-2026-07-28 42.0"]
    assert not (layer / "mcp" / "server").exists()
