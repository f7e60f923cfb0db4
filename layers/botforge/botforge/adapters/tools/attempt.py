"""What is known about the one request of an exchange that may have had an effect."""

import threading
from dataclasses import dataclass, field

from botforge.domain.errors import Delivery, ToolServerError

# A gateway's word that it got no answer from the server behind it, which may have acted all the same.
_GATEWAY_STATUSES = frozenset({502, 504})
# Statuses of 400 to 499 that do not say that the request was refused before anything was done (RFC 9110, 15.5).
_NOT_REFUSALS = frozenset({408, 425, 499})


@dataclass(frozen=True, slots=True)
class Failure:
    """``code`` is one of ToolServerError's."""

    code: str
    message: str


UNREACHABLE = Failure("tool_server_unreachable", "The tool server cannot be reached.")
TIMED_OUT = Failure("tool_server_timeout", "The tool server did not answer in time.")
BROKEN_OFF = Failure("tool_server_error", "The tool server broke the connection off.")
UNSENDABLE = Failure("tool_server_error", "The request cannot be sent: a header or its value is not valid.")
INVALID = Failure("tool_server_invalid_response", "The tool server's answer is not what its protocol asks for.")
COMPRESSED = Failure("tool_server_invalid_response", "The tool server's answer is compressed, unasked.")
TOO_LARGE = Failure("tool_response_too_large", "The tool server's answer is larger than it may be.")
REDIRECTED = Failure("tool_server_invalid_response", "The tool server answers with a redirect, which is not followed.")


class Abandoned(Exception):
    """The caller has left, and has been told that nothing was sent: nothing may be sent any more."""


@dataclass(slots=True)
class Attempt:
    """Written where the bytes pass, read by the caller when the exchange has failed.

    Requests that come before the one that counts (a handshake) have no effect on the tool: whatever becomes of them,
    the call was not sent.
    """

    method: str | None = None  # of the requests that are watched; None: none has begun
    preliminary: bool = False  # the one that counts is still to come
    sent: bool = False  # it was given to the network
    status: int | None = None  # of its answer
    complete: bool = False  # its answer arrived to its end
    refused: Failure | None = None  # why we ended its answer
    _containing: bytes = b""
    _abandoned: bool = False
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def begin(self, method: str, *, preliminary: bool = False, containing: bytes = b"") -> None:
        """From now on, requests of this method are the one that counts, or lead to it.

        ``containing`` tells it from others that an MCP client sends beside it (that it is ready, an answer to the
        server's own question), and whose fate says nothing.
        """
        self.method, self.preliminary, self._containing = method, preliminary, containing
        self.sent, self.status, self.complete, self.refused = False, None, False, None

    def takes(self, method: str, body: bytes) -> bool:
        """Whether a request that is about to be made counts."""
        return method == self.method and self._containing in body

    def sending(self) -> None:
        """The next thing that happens is that the request leaves. Raises Abandoned if it may not any more."""
        with self._lock:
            if self._abandoned:
                raise Abandoned
            self.sent = True

    def abandon(self) -> None:
        """Let nothing be sent from now on, so that what ``sent`` says stays true."""
        with self._lock:
            self._abandoned = True

    @property
    def delivery(self) -> Delivery:
        if not self.sent or self.preliminary:
            return Delivery.NOT_SENT
        if self.status is None or self.status in _GATEWAY_STATUSES:
            return Delivery.UNKNOWN
        answered = self.complete or self.status >= 400 or self.refused is not None
        return Delivery.ANSWERED if answered else Delivery.UNKNOWN

    def error(self, failure: Failure, *, delivery: Delivery | None = None) -> ToolServerError:
        """``failure``, unless what was seen of the answer says more: then that is why everything after it failed.

        ``delivery`` is what the caller knows better of the request that counts.
        """
        known = self.refused or failure_of_status(self.status) or failure
        if delivery is None or self.preliminary or not self.sent:
            delivery = self.delivery
        return ToolServerError(known.message, code=known.code, delivery=delivery)


def failure_of_status(status: int | None) -> Failure | None:
    """What an HTTP status says by itself; None for one that says nothing."""
    if status is None or status < 400:
        return None
    if status in (401, 403):
        return Failure("tool_server_unauthorized", f"The tool server refused the credential (HTTP {status}).")
    if status == 429:
        return Failure("tool_server_busy", "The tool server takes no more requests for the moment (HTTP 429).")
    if status < 500 and status not in _NOT_REFUSALS:
        return Failure("tool_call_refused", f"The tool server refused the request (HTTP {status}).")
    return Failure("tool_server_error", f"The tool server answered with HTTP {status}.")
