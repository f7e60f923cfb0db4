"""Start server-everything with an empty environment, call its tools as the product does, print what came as JSON.

``python everything_probe.py NODE SCRIPT``, to be run in a network of its own: the server listens on all interfaces.
"""

import json
import socket
import subprocess
import sys
import threading
import time
from typing import Any

from botforge.adapters.tools.by_protocol import ByProtocolTransport
from botforge.domain.deadline import Deadline
from botforge.domain.errors import ToolServerError
from botforge.domain.tool import ToolProtocol
from botforge.ports.tools import Endpoint, ToolCall

PORT = 3901
CALLS: list[tuple[str, dict[str, Any]]] = [
    ("get-sum", {"a": 25, "b": 17}),
    ("echo", {"message": "grüße"}),
    ("get-structured-content", {"location": "New York"}),
    ("get-tiny-image", {}),
    ("get-env", {}),
    ("get-sum", {"a": "x"}),
    ("nothing", {}),
    ("trigger-long-running-operation", {"duration": 1, "steps": 4}),
]


def main(node: str, script: str) -> None:
    environment = {"PATH": "/usr/bin:/bin", "HOME": "/tmp", "PORT": str(PORT)}  # noqa: S108 - nothing is written there
    server = subprocess.Popen(  # noqa: S603 - the test's own command
        [node, script, "streamableHttp"], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        _wait_for(server)
        sys.stdout.write(json.dumps(_probe()) + "\n")
        sys.stdout.write(json.dumps(_killed_in_the_midst(server)) + "\n")
    finally:
        server.kill()
        server.wait()


def _probe() -> dict[str, Any]:
    transport = ByProtocolTransport(allow_loopback=True)
    url = f"http://127.0.0.1:{PORT}/mcp"
    found = transport.discover(Endpoint(url, ToolProtocol.AUTO, None), deadline=Deadline.after(60))
    endpoint = Endpoint(url, ToolProtocol.AUTO, found.dialect)
    results: list[Any] = []
    for name, arguments in CALLS:
        try:
            result = transport.call(endpoint, ToolCall(name, arguments, {}, None), deadline=Deadline.after(60))
            results.append([name, result.text, result.content, result.is_error])
        except ToolServerError as error:
            results.append([name, error.code, error.delivery, True])
    return {
        "dialect": found.dialect,
        "server": [found.server_name, found.server_version],
        "tools": [tool.name for tool in found.tools],
        "notes": found.notes,
        "results": results,
    }


def _killed_in_the_midst(server: "subprocess.Popen[bytes]") -> list[Any]:
    """The server is killed while it works on a call: how that ends, and how many seconds after the kill."""
    endpoint = Endpoint(f"http://127.0.0.1:{PORT}/mcp", ToolProtocol.MCP, None)
    transport = ByProtocolTransport(allow_loopback=True)
    killed: list[float] = []

    def kill() -> None:
        server.kill()
        killed.append(time.monotonic())

    threading.Timer(3, kill).start()
    call = ToolCall("trigger-long-running-operation", {"duration": 60, "steps": 60}, {}, None)
    try:
        transport.call(endpoint, call, deadline=Deadline.after(50))
    except ToolServerError as error:
        return [error.code, error.delivery, time.monotonic() - killed[0]]
    return ["succeeded"]


def _wait_for(server: "subprocess.Popen[bytes]") -> None:
    until = time.monotonic() + 60
    while time.monotonic() < until and server.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", PORT)).close()
        except ConnectionRefusedError:
            time.sleep(0.05)
        else:
            return
    raise SystemExit("server-everything did not start")


if __name__ == "__main__":
    main(*sys.argv[1:])
