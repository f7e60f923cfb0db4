"""The calls that a model asks for in one message: checked, bounded, made side by side, and each of them answered."""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from typing import cast
from uuid import UUID, uuid4

from botforge.domain.agent import MAX_ARGUMENT_CHARACTERS, MAX_CALLS, MAX_IDENTICAL_CALLS, MAX_PARALLEL_CALLS
from botforge.domain.agent_prompting import ALL_RESULTS_TOKENS, RESULT_TOKENS, refusal_message, result_message
from botforge.domain.agent_trace import Event, LookUp, Refusal
from botforge.domain.clipping import clipped, estimated_tokens
from botforge.domain.deadline import Deadline
from botforge.domain.execution import ExecutionStatus
from botforge.domain.ids import ExecutionId, UserId
from botforge.domain.json_values import canonical, read_object
from botforge.domain.tool import JsonObject, ServerTool
from botforge.domain.tool_use import ToolUse, unsuccessful
from botforge.ports.arguments import ArgumentChecker
from botforge.ports.chat import Message, ToolOffer, ToolRequest
from botforge.services.tool_execution import ToolExecutor

_LEAST_RESULT_TOKENS = 100  # of a result when the budget of all is used up


@dataclass(frozen=True, slots=True)
class BuiltIn:
    """A function of our own beside the tools: it reads, changes nothing, and its text goes to the model as it is.

    ``run`` raises no error: what it could not do, it says in its text.
    """

    offer: ToolOffer
    run: Callable[[JsonObject], str]


@dataclass(frozen=True, slots=True)
class _Accepted:
    target: ServerTool
    arguments: JsonObject
    identity: str


@dataclass(frozen=True, slots=True)
class _Refused:
    why: str
    mend: tuple[str, ...] = ()
    repeated: bool = False


@dataclass(slots=True)
class ToolCalls:
    """``tools`` by the alias under which the model knows them: nothing else can be called, whatever a text says."""

    user_id: UserId
    query_id: UUID
    tools: Mapping[str, ServerTool]
    built_ins: Mapping[str, BuiltIn]
    executor: ToolExecutor
    checker: ArgumentChecker
    deadline: Deadline
    on_unforeseen: Callable[[BaseException], None]
    stalled: bool = False  # the last round asked for nothing that had not been done already
    _made: dict[str, int] = field(default_factory=dict[str, int])  # calls by identity
    _last: dict[str, ExecutionStatus | None] = field(default_factory=dict[str, ExecutionStatus | None])
    _tokens: int = ALL_RESULTS_TOKENS

    def answer(self, requests: Sequence[ToolRequest]) -> tuple[list[Message], list[Event]]:
        """An answer to every request, in order, and what happened."""
        decided = [self._decide(request) for request in requests]
        uses = self._run([each for each in decided if isinstance(each, _Accepted)])
        self.stalled = all(isinstance(each, _Refused) and each.repeated for each in decided)
        messages: list[Message] = []
        events: list[Event] = []
        for request, each in zip(requests, decided, strict=True):
            if isinstance(each, _Refused):
                content = refusal_message(each.why, each.mend)
                event: Event = Refusal(request.name, each.why)
            elif isinstance(each, str):
                content, event = each, LookUp(request.name)
            else:
                event = uses[id(each)]
                self._last[each.identity] = event.status
                content = self._told(event) + self._unlike_declared(each.target, event)
            messages.append(Message("tool", content, tool_request_id=request.id))
            events.append(event)
        return messages, events

    def _decide(self, request: ToolRequest) -> _Accepted | _Refused | str:
        if len(request.arguments) > MAX_ARGUMENT_CHARACTERS:
            return _Refused("Its arguments are too long.", (f"Stay below {MAX_ARGUMENT_CHARACTERS} characters.",))
        target, built_in = self.tools.get(request.name), self.built_ins.get(request.name)
        if target is None and built_in is None:
            names = ", ".join([*self.tools, *self.built_ins])
            return _Refused("There is no such tool.", (f"Call one of: {names}.",))
        try:
            arguments = read_object(request.arguments or "{}")
        except ValueError as error:
            return _Refused("Its arguments cannot be read.", (str(error), "Send one JSON object."))
        problems = self.checker.problems(_schema(target, built_in), arguments)
        if problems:
            return _Refused("Its arguments do not fit its schema.", tuple(problems))
        if built_in is not None:
            return self._look_up(built_in, arguments)
        assert target is not None, "one of the two was found"  # noqa: S101
        return self._allowed(_Accepted(target, arguments, _identity(target, arguments)))

    def _allowed(self, call: _Accepted) -> _Accepted | _Refused:
        """A tool that was not declared repeatable is not called twice with the same arguments, unless it failed."""
        made = self._made.get(call.identity, 0)
        once_only = not call.target.policy.effect.repeatable
        if made and once_only and self._last[call.identity] is not ExecutionStatus.FAILED:
            why = "This very call has been made already, and the tool was not declared safe to repeat."
            return _Refused(why, ("Use the result of the first call.",), repeated=True)
        if made >= MAX_IDENTICAL_CALLS:
            return _Refused(f"This very call has been made {made} times already.", repeated=True)
        if sum(self._made.values()) >= MAX_CALLS:
            return _Refused(f"{MAX_CALLS} calls have been made for this message: no more are.", repeated=True)
        self._made[call.identity] = made + 1
        self._last[call.identity] = None  # it is on its way
        return call

    def _look_up(self, built_in: BuiltIn, arguments: JsonObject) -> str:
        text = clipped(built_in.run(arguments), RESULT_TOKENS)
        self._tokens -= estimated_tokens(text)
        return text

    def _run(self, calls: Sequence[_Accepted]) -> dict[int, ToolUse]:
        """Side by side, and none is waited for beyond the deadline: what is left behind has an unknown outcome."""
        if not calls:
            return {}
        ids = [ExecutionId(uuid4()) for _ in calls]
        pool = ThreadPoolExecutor(min(len(calls), MAX_PARALLEL_CALLS), thread_name_prefix="tool-call")
        futures = [pool.submit(self._execute, call, of) for call, of in zip(calls, ids, strict=True)]
        try:
            wait(futures, timeout=self.deadline.remaining())
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
        return {id(call): self._use(call, of, future) for call, of, future in zip(calls, ids, futures, strict=True)}

    def _execute(self, call: _Accepted, execution_id: ExecutionId) -> ToolUse:
        return self.executor.execute(
            self.user_id,
            call.target,
            call.arguments,
            execution_id=execution_id,
            query_id=self.query_id,
            deadline=self.deadline,
        )

    def _use(self, call: _Accepted, execution_id: ExecutionId, future: "Future[ToolUse]") -> ToolUse:
        if future.cancelled():
            return unsuccessful(
                call.target,
                call.arguments,
                ExecutionStatus.FAILED,
                code="deadline_exceeded",
                message="It was not called: no time was left.",
            )
        if future.done():
            error = future.exception()
            if error is None:
                return future.result()
            self.on_unforeseen(error)
            code, message = "internal_error", "Something went wrong on our side."
        else:
            code, message = "deadline_exceeded", "It was not waited for any longer: no time was left."
        return unsuccessful(
            call.target,
            call.arguments,
            ExecutionStatus.UNKNOWN,
            code=code,
            message=message,
            execution_id=execution_id,
        )

    def _told(self, use: ToolUse) -> str:
        text = result_message(use, tokens=max(_LEAST_RESULT_TOKENS, min(RESULT_TOKENS, self._tokens)))
        self._tokens -= estimated_tokens(text)
        return text

    def _unlike_declared(self, target: ServerTool, use: ToolUse) -> str:
        """A word to the model where a structured result breaks its tool's own schema: it is done, but doubtful."""
        schema, content = target.tool.definition.output_schema, cast("object", use.result and use.result.content)
        if not use.succeeded or schema is None or not isinstance(content, dict):
            return ""
        if not self.checker.problems(schema, cast("JsonObject", content)):
            return ""
        # Without the problems themselves: they quote the result, which must not leave its delimiters.
        return "\nThe result is not of the form that the tool declares: mind what you conclude from it."


def _schema(target: ServerTool | None, built_in: BuiltIn | None) -> JsonObject:
    if target is not None:
        return target.tool.definition.input_schema
    assert built_in is not None, "one of the two was found"  # noqa: S101
    return built_in.offer.parameters


def _identity(target: ServerTool, arguments: JsonObject) -> str:
    return f"{target.server.id}\n{target.tool.definition.name}\n{canonical(arguments)}"
