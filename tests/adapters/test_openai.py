"""The OpenAI adapter over the real SDK and HTTP: what it sends, and every way in which a provider can fail."""

import logging
import ssl
import threading
import time
import traceback
from collections.abc import Callable, Generator

import pytest

from botforge.adapters.llm.openai import OpenAIChatModel
from botforge.domain.answer import Usage
from botforge.domain.deadline import Deadline
from botforge.domain.errors import ChatModelUnavailable
from botforge.ports.chat import Completion, Message
from botforge_dev.fakes.loopback import Cut, Fault, Hang, Huge, Respond, Trickle
from botforge_dev.fakes.openai_server import API_KEY, OpenAIServer, Reply, openai_server, refusal

SECONDS = 0.6  # a deadline that a fault runs into
SLACK = 2.0  # far more than a loaded machine needs on top, far less than the fault would take
NO_TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)  # trusts nobody, and reads no certificates for that
HELLO = (Message("system", "Be brief."), Message("user", "Say hello."))


@pytest.fixture
def server() -> Generator[OpenAIServer]:
    with openai_server() as running:
        yield running


@pytest.fixture
def pauses() -> list[float]:
    """The pauses between attempts, which are noted and not slept."""
    return []


@pytest.fixture
def model(server: OpenAIServer, pauses: list[float]) -> OpenAIChatModel:
    return chat_model(server.url, pause=pauses.append)


def chat_model(url: str, *, api_key: str = API_KEY, pause: Callable[[float], None] = time.sleep) -> OpenAIChatModel:
    return OpenAIChatModel(
        api_key=api_key, base_url=url, model="gpt-4o-mini", max_response_bytes=100_000, tls=NO_TLS, pause=pause
    )


def complete(model: OpenAIChatModel, *, seconds: float = 20) -> Completion:
    return model.complete(HELLO, model=None, deadline=Deadline.after(seconds))


def failure(model: OpenAIChatModel, *, seconds: float = 20) -> ChatModelUnavailable:
    with pytest.raises(ChatModelUnavailable) as raised:
        complete(model, seconds=seconds)
    return raised.value


def calls_under_way() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "llm-call"]


# ---------------------------------------------------------------- what is sent and read


def test_messages_go_out_as_they_are_and_nothing_else_is_sent(server: OpenAIServer, model: OpenAIChatModel) -> None:
    complete(model)

    assert server.requests == [
        {
            "model": "gpt-4o-mini",
            "messages": [
                {"role": "system", "content": "Be brief."},
                {"role": "user", "content": "Say hello."},
            ],
        }
    ]


def test_usage_and_the_answering_model_are_the_providers(server: OpenAIServer, model: OpenAIChatModel) -> None:
    server.answer(Reply("Hello to you."))

    assert complete(model) == Completion("Hello to you.", "gpt-4o-mini-2024-07-18", Usage(4, 3))


def test_an_answer_that_was_cut_at_a_length_limit_is_accepted_and_marked(
    server: OpenAIServer, model: OpenAIChatModel
) -> None:
    server.answer(Reply("Hello to", finish_reason="length"))

    completion = complete(model)

    assert (completion.text, completion.truncated) == ("Hello to", True)


@pytest.mark.parametrize(
    "usage",
    [
        None,
        {},
        {"prompt_tokens": None},
        {"prompt_tokens": "7"},
        {"prompt_tokens": -1},
        {"prompt_tokens": 10**20},
        "many",
    ],
)
def test_usage_that_is_missing_or_makes_no_sense_counts_as_none(
    server: OpenAIServer, model: OpenAIChatModel, usage: object
) -> None:
    server.answer(Reply(extra={"usage": usage}))

    assert complete(model).usage == Usage(0, 0)


def test_the_extra_fields_and_gaps_of_compatible_servers_are_tolerated(
    server: OpenAIServer, model: OpenAIChatModel
) -> None:
    body: dict[str, object] = {
        "choices": [
            {
                "message": {"role": "assistant", "content": "Hello.", "reasoning_content": "thinks", "tool_calls": []},
                "finish_reason": None,
                "stop_reason": 128_001,
                "token_ids": None,
            }
        ],
        "prompt_logprobs": None,
        "kv_transfer_params": None,
    }
    server.answer(Respond(200, body, {"Content-Type": "text/plain"}))

    assert complete(model) == Completion("Hello.", "gpt-4o-mini", Usage())


def test_nul_bytes_never_leave_the_adapter(server: OpenAIServer, model: OpenAIChatModel) -> None:
    server.answer(Reply("Hel\0lo."))

    assert complete(model).text == "Hello."


def test_calls_in_a_row_share_one_connection(server: OpenAIServer, model: OpenAIChatModel) -> None:
    for _ in range(3):
        complete(model)

    assert {request.connection for request in server.received} == {0}


# ---------------------------------------------------------------- refusals and nonsense


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (refusal(401, "Incorrect API key provided.", code="invalid_api_key"), "llm_refused"),
        (refusal(403, "Country not supported.", code="unsupported_country_region_territory"), "llm_refused"),
        (refusal(400, "The response was filtered.", code="content_filter"), "llm_refused"),
        (Reply(None, finish_reason="content_filter"), "llm_refused"),
        (Reply("Half of", finish_reason="content_filter"), "llm_refused"),
        (Reply(None, message={"refusal": "I will not."}), "llm_refused"),
        (refusal(400, "This model's context is 8192 tokens.", code="context_length_exceeded"), "llm_error"),
        (refusal(404, "No such model.", code="model_not_found"), "llm_error"),
        (Respond(307, headers={"Location": "http://127.0.0.1:9/v1/chat/completions"}), "llm_error"),
        (refusal(429, "You exceeded your quota.", code="insufficient_quota"), "llm_rate_limited"),
        (Huge(), "llm_invalid_response"),
        (Respond(400, b" " * 200_000), "llm_invalid_response"),
        (Respond(200, b"{}", {"Content-Encoding": "gzip"}), "llm_invalid_response"),
    ],
)
def test_what_no_second_attempt_would_change_fails_at_once(
    server: OpenAIServer, model: OpenAIChatModel, pauses: list[float], answer: Reply | Respond | Fault, code: str
) -> None:
    server.answer(answer)

    assert failure(model).code == code
    assert len(server.received) == 1
    assert pauses == []


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (refusal(429, "Slow down.", code="rate_limit_exceeded"), "llm_rate_limited"),
        (refusal(500, "The server had an error."), "llm_error"),
        (Respond(502, b"<html>Bad gateway</html>", {"Content-Type": "text/html"}), "llm_error"),
        (Cut("request"), "llm_error"),
        (Cut("body"), "llm_invalid_response"),
        (Respond(200, b'{"choices": [{"mess'), "llm_invalid_response"),
        (Respond(200, b"<html>Welcome to the proxy</html>", {"Content-Type": "text/html"}), "llm_invalid_response"),
        (Respond(200, b""), "llm_invalid_response"),
        (Respond(200, b"null"), "llm_invalid_response"),
        (Respond(200, b"\xff\xfe"), "llm_invalid_response"),
        (Respond(200, {"error": {"message": "The upstream failed.", "code": 502}}), "llm_invalid_response"),
        (Reply(extra={"choices": []}), "llm_invalid_response"),
        (Reply(extra={"choices": "Hello."}), "llm_invalid_response"),
        (Reply(message={"content": {"text": "Hello."}}), "llm_invalid_response"),
        (Reply(None), "llm_invalid_response"),
        (Reply(" \n"), "llm_invalid_response"),
        (Respond(200, b'{"choices": [{"message": {"content": "\\ud800"}}]}'), "llm_invalid_response"),
    ],
)
def test_what_may_pass_is_tried_three_times_and_then_named(
    server: OpenAIServer, model: OpenAIChatModel, pauses: list[float], answer: Reply | Respond | Fault, code: str
) -> None:
    server.answer(answer, answer, answer)

    assert failure(model).code == code
    assert len(server.received) == 3
    assert len(pauses) == 2


@pytest.mark.parametrize(
    "fault", [refusal(503, "Overloaded."), refusal(429, "Slow down."), Cut("request"), Cut("body")]
)
def test_a_passing_fault_is_not_noticed(server: OpenAIServer, model: OpenAIChatModel, fault: Respond | Fault) -> None:
    server.answer(fault, Reply("Hello again."))

    assert complete(model).text == "Hello again."


# ---------------------------------------------------------------- time


@pytest.mark.parametrize("fault", [Hang(), Trickle(), Trickle(part="headers")])
def test_a_call_ends_with_its_deadline_and_the_next_one_works(
    server: OpenAIServer, model: OpenAIChatModel, fault: Fault
) -> None:
    server.answer(fault)
    began = time.monotonic()

    assert failure(model, seconds=SECONDS).code == "llm_timeout"

    assert time.monotonic() - began < SECONDS + SLACK
    for thread in calls_under_way():  # the call that was left behind ends too, whatever the server does
        thread.join(SLACK)
    assert calls_under_way() == []
    assert complete(model).text == "Hello."


def test_a_server_that_nobody_runs_is_an_error_well_before_the_deadline() -> None:
    with openai_server() as gone:
        url = gone.url
    began = time.monotonic()

    assert failure(chat_model(url), seconds=30).code == "llm_error"
    assert time.monotonic() - began < 10


def test_a_deadline_that_has_passed_costs_no_request(server: OpenAIServer, model: OpenAIChatModel) -> None:
    assert failure(model, seconds=0).code == "llm_timeout"
    assert server.received == []


@pytest.mark.parametrize(
    ("headers", "pause"),
    [
        ({"Retry-After": "7"}, 7),
        ({"Retry-After-Ms": "250", "Retry-After": "7"}, 0.25),
        ({"Retry-After": "-3"}, 0),
        ({"Retry-After": "Thu, 01 Jan 1970 00:00:00 GMT"}, 0),
    ],
)
def test_retry_after_is_honoured_when_it_fits_the_deadline(
    server: OpenAIServer, model: OpenAIChatModel, pauses: list[float], headers: dict[str, str], pause: float
) -> None:
    server.answer(refusal(429, "Slow down.", headers=headers))

    complete(model)

    assert pauses == [pytest.approx(pause)]


@pytest.mark.parametrize("value", ["30", "1e400", "inf", "Fri, 31 Dec 9999 23:59:59 GMT"])
def test_a_retry_after_beyond_the_deadline_fails_at_once(
    server: OpenAIServer, model: OpenAIChatModel, pauses: list[float], value: str
) -> None:
    server.answer(refusal(429, "Slow down.", headers={"Retry-After": value}))

    assert failure(model, seconds=20).code == "llm_rate_limited"
    assert (len(server.received), pauses) == (1, [])


@pytest.mark.parametrize("value", ["soon", "nan", "", "Thu, 99 Foo 2020"])
def test_a_retry_after_without_sense_gives_the_usual_pause(
    server: OpenAIServer, model: OpenAIChatModel, pauses: list[float], value: str
) -> None:
    server.answer(refusal(429, "Slow down.", headers={"Retry-After": value}))

    complete(model)

    assert 0.3 < pauses[0] <= 0.5


# ---------------------------------------------------------------- secrets


@pytest.mark.parametrize(
    "answer",
    [
        refusal(401, f"Incorrect API key provided: {API_KEY}.", code=API_KEY),
        refusal(500, f"Internal error while serving {API_KEY}."),
        Respond(200, f"not JSON: {API_KEY}".encode()),
        Cut("request"),
    ],
)
def test_the_key_is_in_no_message_traceback_or_log(
    server: OpenAIServer, model: OpenAIChatModel, answer: Respond | Fault, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    server.answer(answer, answer, answer)

    error = failure(model)

    assert API_KEY not in "".join(traceback.format_exception(error))
    assert API_KEY not in caplog.text
    assert API_KEY not in repr(vars(error))
    assert server.received[0].headers["authorization"] == f"Bearer {API_KEY}"


def test_a_key_read_from_a_file_may_end_in_a_newline(server: OpenAIServer) -> None:
    assert complete(chat_model(server.url, api_key=f"{API_KEY}\n")).text == "Hello."


@pytest.mark.parametrize("key", ["", " ", "sk-\u2026", "sk-a\nb", "sk-a b"])
def test_a_key_that_no_header_can_hold_is_refused_without_being_shown(key: str) -> None:
    with pytest.raises(ValueError, match="API key") as raised:
        chat_model("http://127.0.0.1:1/v1", api_key=key)

    assert not key.strip() or key not in str(raised.value)


# ---------------------------------------------------------------- threads


def test_calls_at_the_same_time_do_not_share_a_fate(server: OpenAIServer, model: OpenAIChatModel) -> None:
    complete(model)  # leaves a connection behind, which the next call takes
    server.answer(Trickle())
    first: list[str] = []

    def slow() -> None:
        first.append(failure(model, seconds=SECONDS).code)

    caller = threading.Thread(target=slow)
    caller.start()
    while len(server.received) < 2:  # the trickling call is under way
        caller.join(0.01)
    texts = [complete(model).text for _ in range(5)]
    caller.join()

    assert (first, texts) == (["llm_timeout"], ["Hello."] * 5)
