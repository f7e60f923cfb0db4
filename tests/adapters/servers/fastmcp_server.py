"""``python fastmcp_server.py PORT``: a fastmcp server, in fastmcp's own environment."""
# pyright: basic, reportMissingImports=false

import os
import sys
from typing import Annotated, Any

from fastmcp import FastMCP
from fastmcp.exceptions import ToolError
from pydantic import BaseModel, Field

server = FastMCP("fast", version="1.0")


class Place(BaseModel):
    city: str
    inside: "Place | None" = None


@server.tool
def add(a: int, b: int) -> int:
    """Add two integers."""
    return a + b


@server.tool
def locate(place: Place, region: Annotated[str, Field(json_schema_extra={"x-mcp-header": "Region"})] = "eu") -> str:
    """Where a place is; its schema refers to itself."""
    return f"{place.city} in {region}"


@server.tool
def report() -> dict[str, Any]:
    """A structured result."""
    return {"rows": [1, 2, 3], "title": "größe"}


@server.tool
def fail() -> str:
    """Always fails."""
    raise ToolError("the printer is out of paper")


@server.tool
def die() -> str:
    """Ends the server in the midst of the call."""
    os._exit(1)


server.run(transport="http", host="127.0.0.1", port=int(sys.argv[1]), show_banner=False, log_level="critical")
