"""``python time_proxy.py PORT``: mcp-server-time, which speaks over its standard streams, behind fastmcp's proxy."""

# pyright: basic, reportMissingImports=false

import sys

from fastmcp.server import create_proxy

servers = {
    "mcpServers": {"time": {"command": sys.executable, "args": ["-m", "mcp_server_time", "--local-timezone", "UTC"]}}
}
create_proxy(servers).run(
    transport="http", host="127.0.0.1", port=int(sys.argv[1]), show_banner=False, log_level="critical"
)
