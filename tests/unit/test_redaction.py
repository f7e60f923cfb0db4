"""Secrets and other people's text stay out of what is logged."""

import json
import logging
from collections.abc import Generator
from types import TracebackType
from typing import Any

import openai
import psycopg
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, SecretStr, ValidationError
from tests.fakes.scripted_http import Reply, ScriptedHttp, scripted_http

from botforge.domain.errors import DocumentRejected, NotFound
from botforge.domain.reasons import Reason
from botforge.telemetry.logs import RedactingFormatter
from botforge.telemetry.redaction import MASK, MAX_TEXT, MAX_TRACE, conceal, conceal_environment, described, scrubbed

SECRET = "hunter2hunter2"
TEXT = "Grandmother's recipe"


def logged(message: object, *args: object, error: BaseException | None = None, **extra: Any) -> str:  # noqa: ANN401
    """The line that a logger would write."""
    exc_info: tuple[type[BaseException], BaseException, TracebackType | None] | None = None
    if error is not None:
        exc_info = (type(error), error, error.__traceback__)
    record = logging.LogRecord("botforge", logging.ERROR, __file__, 1, message, args, exc_info)
    record.__dict__.update(extra)
    return RedactingFormatter(serialize_stacktrace=False).format(record)


@pytest.fixture
def server() -> Generator[ScriptedHttp]:
    with scripted_http() as http:
        yield http


# ---------------------------------------------------------------- secrets by their shape


@pytest.mark.parametrize(
    "text",
    [
        f"Authorization: Bearer {SECRET}",
        f"headers={{'authorization': 'Bearer {SECRET}'}}",
        f"authorization: Basic {SECRET}==",
        f"postgresql://bot:{SECRET}@db.internal:5432/botforge",
        f"postgresql://bot:p@ss/{SECRET}@db.internal/botforge",
        f"rediss://:{SECRET}@cache:6379/0",
        f"host=db password={SECRET} dbname=x",
        f"host=db password='{SECRET} and more' dbname=x",
        f'{{"password": "{SECRET}"}}',
        f"OPENAI_API_KEY={SECRET}",
        f"api-key: {SECRET}",
        f"x-api-key = {SECRET}",
        f"Incorrect API key provided: sk-proj-{SECRET}.",
        f"pcsk_{SECRET}",
        f"https://bucket/key?X-Amz-Signature={SECRET}&X-Amz-Security-Token={SECRET}",
        f"set-cookie: session={SECRET}; Path=/",
        f"eyJhbGciOiJIUzI1NiJ9.{SECRET}.{SECRET}",
    ],
)
def test_what_looks_like_a_secret_is_not_written(text: str) -> None:
    assert SECRET not in logged(text)
    assert SECRET not in logged("it was %s", text)
    assert SECRET not in logged("it was", detail={"nested": [text, (text,)]})
    assert SECRET not in logged(json.dumps({"message": text}))


@pytest.mark.parametrize(
    "text",
    ["prompt_tokens: 12", "port 5432 failed", "the user's question", "a:b@c", "basic idea", "sk-8", "mask-wearing"],
)
def test_what_is_harmless_is_left_alone(text: str) -> None:
    assert scrubbed(text) == text


@pytest.mark.parametrize(
    "field", ["password", "api_key", "OPENAI_API_KEY", "access_token", "Authorization", "database_url"]
)
def test_a_field_that_is_named_like_a_secret_loses_its_value(field: str) -> None:
    extra: dict[str, Any] = {field: SECRET, "inner": {field: [SECRET]}}
    line = json.loads(logged("x", **extra))

    assert line[field] == MASK
    assert line["inner"][field] == MASK


def test_an_access_key_s_id_is_not_written() -> None:
    assert "AKIAIOSFODNN7EXAMPLE" not in logged("AKIAIOSFODNN7EXAMPLE")


# ---------------------------------------------------------------- secrets that are known


def test_a_secret_that_is_known_is_not_written_wherever_it_stands() -> None:
    odd = "correct horse battery staple"
    conceal(odd)

    assert odd not in logged(f"<{odd}>", detail={odd: f"x{odd}y"})


def test_of_a_known_url_the_password_is_not_written_either() -> None:
    conceal("postgresql://bot:correct%20horse%20battery@db/botforge")

    assert "battery" not in logged("correct horse battery; correct%20horse%20battery")


def test_the_environment_s_secrets_are_known() -> None:
    conceal_environment(
        {"PINECONE_API_KEY": "odd-looking-key", "OPENAI_SECRET_ARN": "arn:aws:secret", "LOG_LEVEL": "INFO-or-something"}
    )

    line = logged("odd-looking-key arn:aws:secret INFO-or-something")

    assert "odd-looking-key" not in line
    assert "arn:aws:secret" in line
    assert "INFO-or-something" in line


# ---------------------------------------------------------------- exceptions


def test_our_own_errors_tell_what_they_say_and_their_code() -> None:
    assert "[not_found]: There is no such bot." in described(NotFound("There is no such bot."))
    assert "[corrupt]: It ends early." in described(DocumentRejected(Reason.CORRUPT, "It ends early."))


def test_a_row_that_the_database_quotes_is_not_written() -> None:
    error = psycopg.errors.NotNullViolation(
        f'null value in column "title" violates not-null constraint\nDETAIL:  Failing row contains (1, {TEXT}).'
    )

    line = logged("unforeseen", error=error)

    assert "recipe" not in line
    assert "NotNullViolation [23502]" in line


@pytest.mark.parametrize(
    "message",
    [
        f'invalid input syntax for type uuid: "{TEXT}"',
        f"invalid literal for int() with base 10: '{TEXT}'",
        f"can't read “{TEXT}”",
        f"it failed\n{TEXT}",
        f"rejected: {{'input': '{TEXT}'}}",
        f"got <p>{TEXT}",
    ],
)
def test_a_message_is_cut_where_it_begins_to_quote(message: str) -> None:
    line = logged("unforeseen", error=ValueError(message))

    assert "recipe" not in line
    assert "builtins.ValueError" in line


def test_the_cause_of_an_error_says_no_more_than_the_error() -> None:
    def fail() -> None:
        try:
            int(TEXT)
        except ValueError as cause:
            raise NotFound("There is no such bot.") from cause

    with pytest.raises(NotFound) as raised:
        fail()

    line = logged("unforeseen", error=raised.value)

    assert "recipe" not in line
    assert "builtins.ValueError" in line
    assert "test_redaction.py" in line  # where it happened is told


def test_notes_and_values_of_an_exception_are_not_written() -> None:
    error = ValueError(f"'{TEXT}'")
    error.add_note(TEXT)

    assert "recipe" not in logged("unforeseen", error=error)


def test_a_connection_that_fails_does_not_show_its_password() -> None:
    with pytest.raises(psycopg.OperationalError) as raised:
        psycopg.connect(f"postgresql://bot:{SECRET}@127.0.0.1:1/botforge?connect_timeout=1")

    line = logged("unforeseen", error=raised.value)

    assert SECRET not in line
    assert "OperationalError" in line


def test_a_malformed_dsn_is_not_written() -> None:
    with pytest.raises(psycopg.ProgrammingError) as raised:
        psycopg.connect(f"postgresql://bot:{SECRET}@[::1/botforge")

    assert SECRET not in logged("unforeseen", error=raised.value)


def test_what_a_language_model_s_provider_echoes_is_not_written(server: ScriptedHttp) -> None:
    body = json.dumps({"error": {"message": f"Incorrect API key provided: {SECRET}. You asked: {TEXT}"}})
    server.replies.append(Reply(401, body.encode(), {"Content-Type": "application/json"}))
    client = openai.OpenAI(api_key=SECRET, base_url=server.url, max_retries=0)

    with client, pytest.raises(openai.AuthenticationError) as raised:
        client.chat.completions.create(model="m", messages=[{"role": "user", "content": TEXT}])

    line = logged("unforeseen", error=raised.value)
    assert SECRET not in line
    assert "recipe" not in line
    assert "openai.AuthenticationError [401]" in line


def test_an_invalid_request_body_is_not_written() -> None:
    class Body(BaseModel):
        size: int

    with pytest.raises(ValidationError) as raised:
        Body.model_validate({"size": TEXT})

    line = logged("unforeseen", error=raised.value)
    assert "recipe" not in line
    assert "1 validation error" in line


def test_exceptions_that_cause_each_other_end() -> None:
    first, second = ValueError("a"), ValueError("b")
    first.__cause__, second.__cause__ = second, first

    assert described(first).count("ValueError") == 10


# ---------------------------------------------------------------- anything else


def test_a_text_is_cut_to_its_bound() -> None:
    line = json.loads(logged("x" * 10_000, detail="y" * 10_000, error=ValueError("z " * 10_000)))

    assert len(line["message"]) == MAX_TEXT
    assert len(line["detail"]) == MAX_TEXT
    assert len(line["exception"]) <= MAX_TRACE


def test_bytes_are_told_by_their_number() -> None:
    assert json.loads(logged("x", body=TEXT.encode()))["body"] == "<20 bytes>"


def test_a_secret_that_hides_itself_stays_hidden() -> None:
    assert SECRET not in logged("x", value=SecretStr(SECRET))


@pytest.mark.parametrize("value", [float("nan"), float("inf"), "\udc80", {"\ud800": "\udfff"}, {1: object()}, {1, 2}])
def test_what_json_or_utf_8_cannot_hold_is_written_all_the_same(value: object) -> None:
    line = logged("x", detail=value)

    line.encode("utf-8")
    assert "detail" in json.loads(line, parse_constant=lambda constant: pytest.fail(f"{constant} is not JSON"))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary() | st.uuids() | st.datetimes(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text() | st.integers(), inner, max_size=4),
    max_leaves=12,
)


@given(message=st.text(), detail=JSON)
def test_whatever_is_logged_is_one_line_of_json(message: str, detail: Any) -> None:  # noqa: ANN401
    line = logged(message, detail=detail)

    line.encode("utf-8")
    assert "\n" not in line
    json.loads(line, parse_constant=lambda constant: pytest.fail(f"{constant} is not JSON"))


@given(before=st.text(max_size=300), after=st.text(max_size=300))
def test_a_bearer_token_is_not_written_whatever_is_around_it(before: str, after: str) -> None:
    assert SECRET not in logged(f"{before} Bearer {SECRET} {after}")


def test_a_long_line_is_scrubbed_in_no_time() -> None:
    for hostile in ("a" * 10_000_000, "password" * 1_000_000, "://:" * 1_000_000, "eyJ" * 1_000_000, "'" * 10_000_000):
        assert len(scrubbed(hostile)) <= MAX_TEXT
