"""Names of tools as an LLM's API accepts them: ``[a-zA-Z0-9_-]{1,64}`` (OpenAI API reference, "function.name").

Tools of different servers may share a name, and names may differ only in what the API does not accept, in case, or
far beyond 64 characters. Each gets an alias that no other has, and the alias leads back to exactly one tool.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Collection, Sequence

from botforge.domain.tool import ServerTool

MAX_NAME = 64
_NOT_ACCEPTED = re.compile(r"[^a-zA-Z0-9_-]+")
_SERVER_PART = 20  # characters of a server's name in an alias
_DIGEST = 8  # hexadecimal digits


def aliases(tools: Sequence[ServerTool], *, reserved: Collection[str] = ()) -> dict[str, ServerTool]:
    """An alias for each tool, in the tools' order.

    A tool whose name is its own in the list keeps it, cut to its tail: long names differ at their ends. Tools that
    share one carry their server's name before it; what is still shared, or ``reserved``, ends in a digest.
    """
    plain = [_fitted(_accepted(tool.tool.definition.name)) for tool in tools]
    qualified = [_qualified(tool) for tool in tools]
    # Whoever wants a plain name that another tool's qualified name spells must not get it by chance of order.
    wanted = Counter(name.casefold() for name in [*plain, *set(qualified)])
    taken = {name.casefold() for name in reserved}
    found: dict[str, ServerTool] = {}
    for tool, short, long in zip(tools, plain, qualified, strict=True):
        candidates = [name for name in (short, long) if wanted[name.casefold()] == 1]
        alias = next((name for name in candidates if name.casefold() not in taken), None) or _digested(tool, taken)
        taken.add(alias.casefold())
        found[alias] = tool
    return found


def accepted_name(name: str) -> str:
    """A name that the API accepts, from whatever a model made up: it must be repeated when the call is answered."""
    return _fitted(_accepted(name))


def _accepted(name: str) -> str:
    return _NOT_ACCEPTED.sub("_", name).strip("_") or "tool"


def _fitted(name: str, *, room: int = MAX_NAME) -> str:
    return name if len(name) <= room else name[-room:].lstrip("_-") or name[-room:]


def _qualified(tool: ServerTool) -> str:
    server = _accepted(tool.server.name)[:_SERVER_PART].strip("_-") or "server"
    room = MAX_NAME - len(server) - 1
    return f"{server}_{_fitted(_accepted(tool.tool.definition.name), room=room)}"


def _digested(tool: ServerTool, taken: Collection[str]) -> str:
    digest = hashlib.sha256(f"{tool.server.id}\n{tool.tool.definition.name}".encode("utf-8", "replace")).hexdigest()
    for length in range(_DIGEST, MAX_NAME):
        name = _fitted(_accepted(tool.tool.definition.name), room=MAX_NAME - length - 1)
        alias = f"{name}_{digest[:length]}"
        if alias.casefold() not in taken:
            return alias
    raise AssertionError("two tools have one id and one name")
