"""What a call to an MCP server loads, and what it must not: each in a process of its own."""

import subprocess
import sys

import pytest
from tests.fakes.mcp_servers import mcp_server

_SERVER_HALF = ("mcp.server", "mcp.cli", "cryptography", "uvicorn", "sse_starlette", "click", "jwt")


def run(code: str, *arguments: str) -> str:
    command = [sys.executable, "-c", code, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - this interpreter
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_the_transport_loads_neither_the_sdk_nor_an_http_client_before_it_is_used() -> None:
    code = """
import sys
from botforge.adapters.tools.by_protocol import ByProtocolTransport
ByProtocolTransport()
print(sorted({"mcp", "httpx2", "httpcore2", "pydantic", "anyio", "jsonschema"} & sys.modules.keys()))
"""
    assert run(code) == "[]"


def test_a_rest_server_is_called_without_the_sdk() -> None:
    code = """
import sys
from botforge.adapters.tools.by_protocol import ByProtocolTransport
from botforge.domain.deadline import Deadline
from botforge.domain.errors import ToolServerError
from botforge.domain.tool import Dialect, ToolProtocol
from botforge.ports.tools import Endpoint
try:
    endpoint = Endpoint("http://127.0.0.1:1/", ToolProtocol.AUTO, None)
    ByProtocolTransport(allow_loopback=True).discover(endpoint, deadline=Deadline.after(30))
except ToolServerError as error:
    print(error.code, "httpx2" in sys.modules, "mcp" in sys.modules, "mcp_types" in sys.modules)
"""
    assert run(code) == "tool_server_unreachable True False False"


@pytest.mark.parametrize("dialect", ["None", "Dialect.MCP_STATELESS", "Dialect.MCP_HANDSHAKE"])
def test_a_call_works_where_the_sdks_server_half_is_not_installed(dialect: str) -> None:
    code = f"""
import sys

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name in {_SERVER_HALF!r} or name.startswith("mcp.server."):
            raise ModuleNotFoundError(name)

sys.meta_path.insert(0, Missing())
from botforge.adapters.tools.by_protocol import ByProtocolTransport
from botforge.domain.deadline import Deadline
from botforge.domain.tool import Dialect, ToolProtocol
from botforge.ports.tools import Endpoint, ToolCall
endpoint = Endpoint(sys.argv[1], ToolProtocol.MCP, {dialect})
transport = ByProtocolTransport(allow_loopback=True)
found = transport.discover(endpoint, deadline=Deadline.after(60))
print(len(found.tools))
print(transport.call(endpoint, ToolCall("add", {{"a": 1, "b": 2}}, {{}}, None), deadline=Deadline.after(60)).content)
print(transport.call(endpoint, ToolCall("broken", {{}}, {{}}, None), deadline=Deadline.after(60)).is_error)
"""
    with mcp_server() as server:
        assert run(code, server.url).splitlines() == ["4", "{'sum': 3.0}", "True"]


def test_whoever_imports_the_sdk_afterwards_gets_it_whole() -> None:
    code = """
from botforge.adapters.tools import mcp_session
import mcp
import mcp.client
from mcp.server.mcpserver import MCPServer
assert mcp.ClientSession is mcp_session.ClientSession
assert mcp.client.Client is mcp.Client
print(MCPServer("x").name)
"""
    assert run(code) == "x"


def test_the_sdk_is_taken_whole_where_it_is_loaded_already() -> None:
    code = """
import mcp
from botforge.adapters.tools import mcp_session
assert mcp.ClientSession is mcp_session.ClientSession
print("fine")
"""
    assert run(code) == "fine"
