"""The HTTP API's routes, as the template declares them on its functions."""

import re
from dataclasses import dataclass
from urllib.parse import unquote

from botforge_dev.template import Template


@dataclass(frozen=True, slots=True)
class Route:
    method: str
    path: str  # with {parameters}
    function: str  # logical id
    authorized: bool
    scopes: frozenset[str] = frozenset()  # one of these is needed, if there are any

    @property
    def key(self) -> str:
        return f"{self.method} {self.path}"

    def match(self, method: str, path: str) -> dict[str, str] | None:
        """The path's parameters, decoded; None if this is not the route."""
        if method != self.method:
            return None
        pattern = "/".join(
            f"(?P<{part[1:-1]}>[^/]+)" if part.startswith("{") else re.escape(part) for part in self.path.split("/")
        )
        found = re.fullmatch(pattern, path)
        return {name: unquote(value) for name, value in found.groupdict().items()} if found else None


def routes_of(template: Template) -> list[Route]:
    """Literal paths first: ``/upload/namespaces`` is not a bot named ``namespaces``."""
    routes = [
        Route(
            method=event["Properties"]["Method"].upper(),
            path=event["Properties"]["Path"],
            function=function,
            authorized=event["Properties"].get("Auth", {}).get("Authorizer") != "NONE",
            scopes=frozenset(event["Properties"].get("Auth", {}).get("AuthorizationScopes", [])),
        )
        for function, properties in template.functions().items()
        for event in properties.get("Events", {}).values()
        if event["Type"] == "HttpApi"
    ]
    return sorted(routes, key=lambda route: route.path.count("{"))
