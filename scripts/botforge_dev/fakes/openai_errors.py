"""A request that the Chat Completions API would refuse."""

from typing import Any

Json = dict[str, Any]


class BadRequest(Exception):
    def __init__(self, message: str, *, param: str | None = None, code: str | None = None, status: int = 400) -> None:
        super().__init__(message)
        self.param = param
        self.code = code
        self.status = status
