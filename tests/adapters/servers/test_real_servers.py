"""MCP servers that others have made, called as the product calls them."""

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Protocol

import pytest

from botforge.adapters.tools.by_protocol import ByProtocolTransport
from botforge.domain.deadline import Deadline
from botforge.domain.errors import Delivery, ToolServerError
from botforge.domain.tool import Dialect, ToolProtocol, ToolResult
from botforge.ports.tools import Endpoint, ToolCall

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

HERE = Path(__file__).parent
BOTH = [Dialect.MCP_STATELESS, Dialect.MCP_HANDSHAKE]


class NodeServers(Protocol):
    @property
    def node(self) -> Path: ...
    @property
    def everything(self) -> Path: ...


def call(url: str, dialect: Dialect | None, tool: str, **arguments: object) -> ToolResult:
    endpoint = Endpoint(url, ToolProtocol.MCP, dialect)
    found = ToolCall(tool, arguments, {"region": "Region"} if tool == "locate" else {}, None)
    return ByProtocolTransport(allow_loopback=True).call(endpoint, found, deadline=Deadline.after(60))


def test_server_everything_is_spoken_to_by_the_handshake(node_servers: NodeServers, alone: list[str]) -> None:
    probe = [sys.executable, str(HERE / "everything_probe.py"), str(node_servers.node), str(node_servers.everything)]

    done = subprocess.run([*alone, *probe], capture_output=True, text=True, check=False)  # noqa: S603 - our own

    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    told: dict[str, Any] = json.loads(lines[0])
    assert told["dialect"] == Dialect.MCP_HANDSHAKE
    assert told["server"][0]
    assert len(told["tools"]) == 13
    assert told["notes"] == []
    results: dict[str, list[list[Any]]] = {}
    for name, *rest in told["results"]:
        results.setdefault(name, []).append(rest)
    assert results["get-sum"][0] == ["The sum of 25 and 17 is 42."] * 2 + [False]
    assert "grüße" in results["echo"][0][0]
    assert results["get-structured-content"][0][1].keys() == {"temperature", "conditions", "humidity"}
    assert "[image, not shown: image/png]" in results["get-tiny-image"][0][0]
    assert json.loads(results["get-env"][0][0]).keys() == {"PATH", "HOME", "PORT"}  # nothing of ours reached it
    assert results["get-sum"][1][2]  # wrong arguments
    assert results["nothing"][0][2]
    assert not results["trigger-long-running-operation"][0][2]
    code, delivery, seconds = json.loads(lines[1])
    assert (code, delivery) == ("tool_server_error", Delivery.UNKNOWN)
    assert seconds < 10


def test_fastmcp_is_found_to_speak_the_stateless_revision(fastmcp_server: str) -> None:
    found = ByProtocolTransport(allow_loopback=True).discover(
        Endpoint(fastmcp_server, ToolProtocol.AUTO, None), deadline=Deadline.after(60)
    )

    assert found.dialect is Dialect.MCP_STATELESS
    assert (found.server_name, found.server_version) == ("fast", "1.0")
    tools = {tool.name: tool for tool in found.tools}
    assert tools.keys() == {"add", "locate", "report", "fail", "die"}
    assert tools["locate"].header_parameters == {"region": "Region"}
    assert "$" not in json.dumps(tools["locate"].input_schema)


@pytest.mark.parametrize("dialect", BOTH)
def test_fastmcp_is_called_in_both_generations(fastmcp_server: str, dialect: Dialect) -> None:
    assert call(fastmcp_server, dialect, "add", a=25, b=17).text == "42"
    assert call(fastmcp_server, dialect, "report").content == {"rows": [1, 2, 3], "title": "größe"}
    assert call(fastmcp_server, dialect, "locate", place={"city": "Köln"}, region="rhein").text == "Köln in rhein"
    failed = call(fastmcp_server, dialect, "fail")
    assert failed.is_error
    assert "out of paper" in failed.text
    assert call(fastmcp_server, dialect, "add", a="x", b=1).is_error


@pytest.mark.parametrize("dialect", BOTH)
def test_a_server_that_dies_in_the_midst_of_a_call_is_a_prompt_error(fastmcp_server: str, dialect: Dialect) -> None:
    call(fastmcp_server, dialect, "add", a=1, b=1)
    began = time.monotonic()

    with pytest.raises(ToolServerError) as raised:
        call(fastmcp_server, dialect, "die")

    assert (raised.value.code, raised.value.delivery) == ("tool_server_error", Delivery.UNKNOWN)
    assert time.monotonic() - began < 10


@pytest.mark.parametrize("dialect", [None, *BOTH])
def test_the_time_server_is_called_through_a_proxy(time_server: str, dialect: Dialect | None) -> None:
    told = call(time_server, dialect, "convert_time", source_timezone="UTC", time="12:00", target_timezone="Asia/Tokyo")

    assert not told.is_error
    assert "21:00" in told.text
    assert call(time_server, dialect, "get_current_time", timezone="Nowhere/Land").is_error
