"""The client under test: ``python conformance_client.py URL``, as the conformance suite starts it.

It does what the product does with a server: find out what it speaks and which tools it has, and call each.
"""

import sys
from collections.abc import Mapping
from typing import Any

from botforge.adapters.tools.by_protocol import ByProtocolTransport
from botforge.domain.deadline import Deadline
from botforge.domain.tool import ToolProtocol
from botforge.ports.tools import Endpoint, ToolCall

_VALUES: Mapping[str, Any] = {"number": 5, "integer": 3, "string": "words", "boolean": True, "array": [], "object": {}}


def main(url: str) -> None:
    transport = ByProtocolTransport(allow_loopback=True)
    found = transport.discover(Endpoint(url, ToolProtocol.MCP, None), deadline=Deadline.after(60))
    endpoint = Endpoint(url, ToolProtocol.MCP, found.dialect)
    for tool in found.tools:
        properties: Mapping[str, Any] = tool.input_schema["properties"]
        arguments = {name: _VALUES.get(schema.get("type"), "words") for name, schema in properties.items()}
        result = transport.call(endpoint, ToolCall(tool.name, arguments, {}, None), deadline=Deadline.after(60))
        sys.stdout.write(f"{tool.name}: {result.text}\n")


if __name__ == "__main__":
    main(sys.argv[-1])
