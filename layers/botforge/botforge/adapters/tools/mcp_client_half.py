"""Importing the client half of the MCP SDK alone.

``import mcp`` runs ``mcp/__init__.py``, which loads the SDK's server as well, and with it Starlette, uvicorn and
``cryptography`` (17 MB). The client's own modules need none of them. While the block runs, the two packages that
would load everything stand there unexecuted, good for nothing but finding their modules; afterwards they are gone,
and whoever imports ``mcp`` gets it whole.
"""

import sys
from collections.abc import Generator
from contextlib import contextmanager
from importlib.machinery import PathFinder
from importlib.util import module_from_spec

_PACKAGES = ("mcp", "mcp.client")


@contextmanager
def client_half() -> Generator[None]:
    """Nothing happens if ``mcp`` is loaded already."""
    if "mcp" in sys.modules:
        yield
        return
    path: list[str] | None = None
    for name in _PACKAGES:
        spec = PathFinder.find_spec(name, path)
        if spec is None:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        path = spec.submodule_search_locations
        sys.modules[name] = module_from_spec(spec)
    try:
        yield
    finally:
        for name in _PACKAGES:
            del sys.modules[name]
