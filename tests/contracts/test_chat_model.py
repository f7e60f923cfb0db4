"""What every ChatModel keeps to: the OpenAI adapter over HTTP, and the fake of other tests."""

import ssl
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass

import pytest
from tests.fakes.chat import ScriptedChatModel, calls

from botforge.adapters.llm.openai import OpenAIChatModel
from botforge.domain.answer import Usage
from botforge.domain.deadline import Deadline
from botforge.domain.errors import ChatModelUnavailable
from botforge.ports.chat import ChatModel, Completion, Message, ToolOffer
from botforge_dev.fakes.openai_server import API_KEY, Reply, openai_server, refusal, tool_calls

MESSAGES = (Message("system", "Be brief."), Message("user", "Hello?"), Message("assistant", "Hello."))
CODES = {"llm_rate_limited": 429, "llm_error": 500, "llm_refused": 401}


@dataclass(frozen=True, slots=True)
class Subject:
    model: ChatModel
    say: Callable[[str], object]  # what the next calls answer
    ask_for: Callable[..., object]  # or which tools they ask to be called: (name, arguments)
    fail: Callable[[str], object]  # or the code with which they fail


@pytest.fixture(params=["scripted", "openai"])
def subject(request: pytest.FixtureRequest) -> Iterator[Subject]:
    if request.param == "scripted":
        scripted = ScriptedChatModel()
        yield Subject(
            scripted,
            lambda text: setattr(scripted, "reply", text),
            lambda *asked: scripted.script.append(calls(*asked)),
            lambda code: setattr(scripted, "failure", code),
        )
        return
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    with (
        openai_server() as server,
        closing(
            OpenAIChatModel(api_key=API_KEY, base_url=server.url, model="gpt-4o-mini", tls=tls, pause=lambda _: None)
        ) as model,
    ):
        yield Subject(
            model,
            lambda text: server.answer(Reply(text)),
            lambda *asked: server.answer(tool_calls(*asked)),
            lambda code: server.answer(*[refusal(CODES[code], "No.")] * 3),
        )


def test_the_reply_comes_with_the_model_that_gave_it_and_its_tokens(subject: Subject) -> None:
    subject.say("Yes, hello.")

    completion = subject.model.complete(MESSAGES, model=None, deadline=Deadline.after(30))

    assert completion.text == "Yes, hello."
    assert completion.model
    assert completion.usage != Usage()
    assert not completion.truncated


def test_the_model_that_is_asked_for_is_the_one_that_answers(subject: Subject) -> None:
    completion = subject.model.complete(MESSAGES, model="gpt-4o", deadline=Deadline.after(30))

    assert completion.model.startswith("gpt-4o")
    assert "mini" not in completion.model


@pytest.mark.parametrize("code", CODES)
def test_a_failure_names_its_kind(subject: Subject, code: str) -> None:
    subject.fail(code)

    with pytest.raises(ChatModelUnavailable) as raised:
        subject.model.complete(MESSAGES, model=None, deadline=Deadline.after(30))

    assert raised.value.code == code


def test_a_passed_deadline_gives_no_reply(subject: Subject) -> None:
    began = time.monotonic()

    with pytest.raises(ChatModelUnavailable) as raised:
        subject.model.complete(MESSAGES, model=None, deadline=Deadline.after(0))

    assert raised.value.code == "llm_timeout"
    assert time.monotonic() - began < 2


ADD = ToolOffer("add", "Adds.", {"type": "object", "properties": {"a": {"type": "number"}}})


def asked(subject: Subject, *messages: Message, must_answer: bool = False) -> Completion:
    conversation = (*MESSAGES, *messages)
    return subject.model.complete(
        conversation, model=None, deadline=Deadline.after(30), tools=[ADD], must_answer=must_answer
    )


def test_calls_that_the_model_asks_for_come_with_ids_of_their_own_and_arguments_as_they_were_sent(
    subject: Subject,
) -> None:
    subject.ask_for(("add", {"a": 1}), ("add", "{not json"), ("no_such_tool", {}))

    requests = asked(subject).tool_requests

    assert [(request.name, request.arguments) for request in requests] == [
        ("add", '{"a": 1}'),
        ("add", "{not json"),
        ("no_such_tool", "{}"),
    ]
    assert len({request.id for request in requests}) == 3


def test_the_results_of_calls_go_back_and_an_answer_comes(subject: Subject) -> None:
    subject.ask_for(("add", {"a": 1}), ("add", {"a": 2}))
    requests = asked(subject).tool_requests
    subject.say("3.")

    completion = asked(
        subject,
        Message("assistant", "", tool_requests=requests),
        *(Message("tool", "1", tool_request_id=request.id) for request in requests),
        must_answer=True,
    )

    assert (completion.text, completion.tool_requests) == ("3.", ())


def test_a_model_that_is_offered_tools_may_answer_without_them(subject: Subject) -> None:
    subject.say("Hello.")

    assert asked(subject).tool_requests == ()
