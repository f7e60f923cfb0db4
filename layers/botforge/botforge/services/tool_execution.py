"""One tool call with all its guarantees.

The order is what guarantees them: the row ``started`` is committed, then the request leaves, then the row is ended
by what is known. Whoever dies in between leaves a row that the monitor resolves to ``unknown``, and nobody sends the
request again: no execution is ever resumed.
"""

from collections.abc import Callable
from dataclasses import dataclass
from uuid import UUID

from botforge.domain.deadline import Deadline
from botforge.domain.errors import (
    BotForgeError,
    DatabaseUnavailable,
    DeadlineExceeded,
    Delivery,
    EgressRefused,
    ToolServerError,
    VaultUnavailable,
)
from botforge.domain.execution import Execution, ExecutionOutcome, ExecutionStatus
from botforge.domain.ids import ExecutionId, UserId
from botforge.domain.json_values import storable
from botforge.domain.tool import Credential, Effect, JsonObject, ServerTool, ToolResult, ToolServer
from botforge.domain.tool_use import ToolUse, unsuccessful
from botforge.ports.clock import Clock
from botforge.ports.repositories import Executions
from botforge.ports.tools import Endpoint, ToolCall, ToolTransport
from botforge.services.tool_results import ResultCache

_FIRST_PAUSE_S = 0.1  # before the second attempt; doubled for each further one
_FINISH_ATTEMPTS = 3
_MAX_MESSAGE = 1_000  # characters of a tool's own error message that are kept

# Answers that say that the tool did not run. Any other bad answer can follow an effect.
_NOT_RUN = frozenset({"tool_server_unauthorized", "tool_server_busy", "tool_call_refused", "tool_unknown"})
_NEVER_RETRIED = _NOT_RUN - {"tool_server_busy"} | {"tool_response_too_large"}


@dataclass(frozen=True, slots=True)
class ToolExecutor:
    """``open_credential`` reads a server's credential in the clear, for one call (VaultUnavailable if it cannot);
    ``on_unforeseen`` is told of errors that nobody expected of a transport."""

    executions: Executions
    transport: ToolTransport
    open_credential: Callable[[ToolServer], Credential | None]
    cache: ResultCache
    clock: Clock
    pause: Callable[[float], None]
    on_unforeseen: Callable[[BaseException], None]

    def execute(
        self,
        user_id: UserId,
        target: ServerTool,
        arguments: JsonObject,
        *,
        execution_id: ExecutionId,
        query_id: UUID | None,
        deadline: Deadline,
    ) -> ToolUse:
        """Call the tool, or serve a result that its registrar lets us keep. Every foreseen failure is an outcome."""
        start = self.clock.monotonic()
        kept = self.cache.get(user_id, target, arguments)
        if kept is not None:
            return self._use(target, arguments, ExecutionStatus.SUCCEEDED, start, result=kept, cached=True)
        try:
            deadline.check()
            self.executions.start(self._row(execution_id, user_id, target, arguments, query_id))
        except BotForgeError as error:
            # Whether or not the row was written, nothing has been sent, and nothing will be.
            message = f"It was not called: {error.message}"
            return unsuccessful(target, arguments, ExecutionStatus.FAILED, code=error.code, message=message)
        call = _Call(self, execution_id, target, arguments, deadline)
        result = call.run()
        elapsed = round((self.clock.monotonic() - start) * 1000)
        outcome = call.outcome(result, elapsed)
        if not self._finish(user_id, execution_id, outcome):
            return self._use(
                target,
                arguments,
                ExecutionStatus.UNKNOWN,
                start,
                execution_id=execution_id,
                attempts=call.attempts,
                error_code="execution_not_recorded",
                error_message="Its outcome could not be recorded, so it counts as unknown.",
            )
        if result is not None and outcome.status is ExecutionStatus.SUCCEEDED:
            self.cache.set(user_id, target, arguments, result)
        return self._use(
            target,
            arguments,
            outcome.status,
            start,
            execution_id=execution_id,
            attempts=call.attempts,
            result=result,
            error_code=outcome.error_code,
            error_message=outcome.error_message,
        )

    def _row(
        self, execution_id: ExecutionId, user_id: UserId, target: ServerTool, arguments: JsonObject, query: UUID | None
    ) -> Execution:
        return Execution(
            id=execution_id,
            user_id=user_id,
            bot_id=target.server.bot_id,
            server_id=target.server.id,
            server_name=target.server.name,
            query_id=query,
            tool_name=target.tool.definition.name,
            input_parameters=arguments,
            output_result=None,
            execution_time_ms=None,
            status=ExecutionStatus.STARTED,
            attempts=0,
            error_code=None,
            error_message=None,
            timestamp=self.clock.now(),
        )

    def _finish(self, user_id: UserId, execution_id: ExecutionId, outcome: ExecutionOutcome) -> bool:
        """Whether the row says what the outcome says. The result is worth several tries: ending a row is harmless."""
        for attempt in range(_FINISH_ATTEMPTS):
            try:
                return self.executions.finish(user_id, execution_id, outcome)
            except (DatabaseUnavailable, DeadlineExceeded):
                if attempt < _FINISH_ATTEMPTS - 1:
                    self.pause(_FIRST_PAUSE_S * 2**attempt)
        return False

    def _use(
        self,
        target: ServerTool,
        arguments: JsonObject,
        status: ExecutionStatus,
        start: float,
        *,
        execution_id: ExecutionId | None = None,
        cached: bool = False,
        attempts: int = 0,
        result: ToolResult | None = None,
        error_code: str | None = None,
        error_message: str | None = None,
    ) -> ToolUse:
        return ToolUse(
            server_id=target.server.id,
            server_name=target.server.name,
            tool_name=target.tool.definition.name,
            arguments=arguments,
            status=status,
            duration_ms=(self.clock.monotonic() - start) * 1000,
            execution_id=execution_id,
            cached=cached,
            attempts=attempts,
            result=result,
            error_code=error_code,
            error_message=error_message,
        )


class _Call:
    """The attempts of one execution, and what is known after them."""

    def __init__(
        self,
        executor: ToolExecutor,
        execution_id: ExecutionId,
        target: ServerTool,
        arguments: JsonObject,
        deadline: Deadline,
    ) -> None:
        self._executor = executor
        self._target = target
        self._deadline = deadline
        self._effect = target.policy.effect
        self.attempts = 0
        self._may_have_run = False
        self._error: tuple[str, str] | None = None  # code and message of the last failure
        self._call = ToolCall(
            tool_name=target.tool.definition.name,
            arguments=arguments,
            header_parameters=target.tool.definition.header_parameters,
            idempotency_key=str(execution_id) if self._effect.repeatable else None,
        )

    def run(self) -> ToolResult | None:
        """What the server answered; None if no attempt brought an answer that can be used."""
        server = self._target.server
        try:
            credential = self._executor.open_credential(server)
        except VaultUnavailable as error:
            self._error = (error.code, "It was not called: the server's credential cannot be opened.")
            return None
        endpoint = Endpoint(server.endpoint_url, server.protocol, server.dialect, credential)
        for attempt in range(1 + server.retry_attempts):
            if attempt and not self._wait(_FIRST_PAUSE_S * 2 ** (attempt - 1)):
                return None
            if self._deadline.remaining() <= 0:
                self._error = self._error or ("deadline_exceeded", "It was not called: no time was left.")
                return None
            result, again = self._attempt(endpoint)
            if not again:
                return result
        return None

    def outcome(self, result: ToolResult | None, elapsed_ms: int) -> ExecutionOutcome:
        code, message = self._error or (None, None)
        stored = None
        if result is None:
            status = ExecutionStatus.UNKNOWN if self._may_have_run else ExecutionStatus.FAILED
        elif result.is_error:
            status, code = ExecutionStatus.FAILED, "tool_error"
            stored, message = storable(result.content), storable(result.text)[:_MAX_MESSAGE]
        else:
            status, code, message, stored = ExecutionStatus.SUCCEEDED, None, None, storable(result.content)
        return ExecutionOutcome(status, elapsed_ms, self.attempts, stored, code, message)

    def _attempt(self, endpoint: Endpoint) -> tuple[ToolResult | None, bool]:
        """The result, and whether another attempt may be made."""
        self.attempts += 1
        limit = Deadline(
            min(self._deadline.at, self._deadline.monotonic() + self._target.server.timeout_seconds),
            self._deadline.monotonic,
        )
        try:
            return self._executor.transport.call(endpoint, self._call, deadline=limit), False
        except ToolServerError as error:
            self._note(error)
            return None, self._repeatable_after(error)
        except EgressRefused as error:
            self._error = (error.code, error.message)
        except BotForgeError as error:
            self._may_have_run = True
            self._error = (error.code, error.message)
        except Exception as error:  # noqa: BLE001 - reported, and the row must say that nobody knows
            self._executor.on_unforeseen(error)
            self._may_have_run = True
            self._error = ("internal_error", "Something went wrong on our side while it was called.")
        return None, False

    def _note(self, error: ToolServerError) -> None:
        self._error = (error.code, error.message)
        match error.delivery:
            case Delivery.NOT_SENT:
                pass
            case Delivery.UNKNOWN:
                self._may_have_run = True
            case Delivery.ANSWERED:
                self._may_have_run |= error.code not in _NOT_RUN and self._effect is not Effect.READ_ONLY

    def _repeatable_after(self, error: ToolServerError) -> bool:
        if error.delivery is Delivery.NOT_SENT:
            return True
        return self._effect.repeatable and error.code not in _NEVER_RETRIED

    def _wait(self, seconds: float) -> bool:
        """Pause before another attempt; False if no time would be left for it."""
        if seconds >= self._deadline.remaining():
            return False
        self._executor.pause(seconds)
        return True
