"""The local gateway against tiny functions in real processes: what API Gateway and Lambda would do, over HTTP."""

import base64
import json
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import httpx
import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from botforge_dev.local.environments import Function, FunctionSpec
from botforge_dev.local.gateway import MAX_BODY_BYTES, Gateway, server_of
from botforge_dev.local.routes import Route
from botforge_dev.local.tokens import AUDIENCE, ISSUER, TokenIssuer

_USER = UUID("6f6f3a3e-54a5-4c39-9f3a-7d6f5f0a3b11")
_HANDLER = """
import json, os, time

def handler(event, context):
    body = event.get("body", "")
    try:
        wanted = json.loads(body) if not event["isBase64Encoded"] and body else {}
    except ValueError:
        wanted = {}
    if "mark" in wanted:
        with open(wanted["mark"] + ".partial", "w") as file:
            file.write(str(os.getpid()))
        os.rename(wanted["mark"] + ".partial", wanted["mark"])
    if "sleep" in wanted:
        time.sleep(wanted["sleep"])
    if "exit" in wanted:
        os._exit(wanted["exit"])
    if "raise" in wanted:
        raise ValueError(wanted["raise"])
    if "reply" in wanted:
        return wanted["reply"]
    described = {"event": event, "environment": dict(os.environ)}
    return {"statusCode": 200, "headers": {"content-type": "application/json"}, "body": json.dumps(described)}
"""


@dataclass(frozen=True, slots=True)
class Served:
    url: str
    issuer: TokenIssuer
    folder: Path

    def post(self, path: str = "/open", **options: Any) -> httpx.Response:  # noqa: ANN401 - httpx's own
        return httpx.post(self.url + path, timeout=60, trust_env=False, **options)

    def claims(self, **changes: Any) -> dict[str, Any]:  # noqa: ANN401 - any JSON
        now = int(time.time())
        claims = {"iss": ISSUER, "aud": AUDIENCE, "sub": str(_USER), "iat": now, "exp": now + 60, **changes}
        return {name: value for name, value in claims.items() if value is not None}

    def signed(self, **changes: Any) -> dict[str, str]:  # noqa: ANN401 - any JSON
        token = jwt.encode(self.claims(**changes), self.issuer.private_key, algorithm="RS256")
        return {"Authorization": f"Bearer {token}"}


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("gateway")
    (folder / "app.py").write_text(_HANDLER)
    spec = FunctionSpec("tiny", folder, "app.handler", timeout_s=20, memory_mb=128, variables={"DECLARED": "yes"})
    hasty = FunctionSpec("hasty", folder, "app.handler", timeout_s=0.5, memory_mb=128, variables={})
    functions = {spec.name: Function(spec, folder / "tiny.log"), hasty.name: Function(hasty, folder / "hasty.log")}
    routes = [
        Route("POST", "/open", "tiny", authorized=False),
        Route("GET", "/open", "tiny", authorized=False),
        Route("POST", "/hasty", "hasty", authorized=False),
        Route("POST", "/closed", "tiny", authorized=True),
        Route("POST", "/scoped", "tiny", authorized=True, scopes=frozenset({"write"})),
        Route("GET", "/things/{id}/parts/{part}", "tiny", authorized=False),
    ]
    issuer = TokenIssuer.in_folder(folder)
    pool = ThreadPoolExecutor(8)
    server = server_of(Gateway(routes, functions, issuer, pool, integration_s=8), 0)
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        while not server.started:
            assert thread.is_alive()
            thread.join(0.01)
        port = server.servers[0].sockets[0].getsockname()[1]
        yield Served(f"http://127.0.0.1:{port}", issuer, folder)
    finally:
        server.should_exit = True
        thread.join()
        for function in functions.values():
            function.close()
        pool.shutdown()


def test_a_request_becomes_an_event_of_payload_format_2(served: Served) -> None:
    answer = httpx.get(
        served.url + "/things/a%20b/parts/%C3%BC?x=1&y=%20z&x=2",
        headers=[("X-Twice", "one"), ("x-twice", "two"), ("Cookie", "a=1; b=2"), ("User-Agent", "tester")],
        trust_env=False,
    )
    event = answer.json()["event"]
    assert event["version"] == "2.0"
    assert event["routeKey"] == "GET /things/{id}/parts/{part}"
    assert event["rawPath"] == "/things/a b/parts/ü"
    assert event["rawQueryString"] == "x=1&y=%20z&x=2"
    assert event["queryStringParameters"] == {"x": "1,2", "y": " z"}
    assert event["pathParameters"] == {"id": "a b", "part": "ü"}
    assert event["headers"]["x-twice"] == "one,two"
    assert "cookie" not in event["headers"]
    assert event["cookies"] == ["a=1", "b=2"]
    assert event["requestContext"]["stage"] == "$default"
    assert event["requestContext"]["http"]["userAgent"] == "tester"
    assert event["requestContext"]["http"]["sourceIp"] == "127.0.0.1"
    assert UUID(event["requestContext"]["requestId"])
    assert "authorizer" not in event["requestContext"]
    assert "body" not in event


def test_text_travels_as_text_and_everything_else_in_base64(served: Served) -> None:
    text = served.post(content='{"ü": 1}'.encode(), headers={"content-type": "application/json; charset=utf-8"}).json()
    assert (text["event"]["body"], text["event"]["isBase64Encoded"]) == ('{"ü": 1}', False)
    for content, content_type in ((b"\xff\xfe{", "application/json"), (b"\x00\x01", "application/octet-stream")):
        event = served.post(content=content, headers={"content-type": content_type}).json()["event"]
        assert event["isBase64Encoded"] is True
        assert base64.b64decode(event["body"]) == content


def test_a_function_has_the_declared_environment_and_none_of_the_developers(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DEVELOPERS_SECRET", "hidden")
    served.post(json={"exit": 1})  # the next environment is started with this variable around
    environment = served.post(json={}).json()["environment"]
    assert environment["DECLARED"] == "yes"
    assert environment["AWS_LAMBDA_FUNCTION_NAME"] == "tiny"
    assert "DEVELOPERS_SECRET" not in environment
    assert "HOME" not in environment


def test_a_good_token_is_let_in_and_its_claims_reach_the_function_as_strings(served: Served) -> None:
    headers = served.signed(scope="a b", groups=["x", "y"], admin=True)
    claims = served.post("/closed", headers=headers, json={}).json()["event"]["requestContext"]["authorizer"]["jwt"]
    assert claims["scopes"] is None
    assert claims["claims"]["sub"] == str(_USER)
    assert claims["claims"]["groups"] == "[x y]"
    assert claims["claims"]["admin"] == "true"
    assert claims["claims"]["exp"].isdigit()


def test_an_access_token_without_audience_is_checked_by_its_client_id(served: Served) -> None:
    assert served.post("/closed", headers=served.signed(aud=None, client_id=AUDIENCE), json={}).status_code == 200
    assert served.post("/closed", headers=served.signed(aud=None, client_id="another"), json={}).status_code == 401
    assert served.post("/closed", headers=served.signed(aud="another", client_id=AUDIENCE), json={}).status_code == 401
    assert served.post("/closed", headers=served.signed(aud=["another", AUDIENCE]), json={}).status_code == 200


@pytest.mark.parametrize(
    "changes",
    [
        {"exp": 1},
        {"exp": None},
        {"nbf": 4_102_444_800},
        {"iat": 4_102_444_800},
        {"iss": "https://somebody.invalid"},
        {"iss": None},
        {"aud": "another"},
        {"aud": None},
    ],
    ids=str,
)
def test_a_token_that_the_authorizer_would_refuse_is_refused(served: Served, changes: dict[str, Any]) -> None:
    answer = served.post("/closed", headers=served.signed(**changes), json={})
    assert (answer.status_code, answer.json()) == (401, {"message": "Unauthorized"})
    assert answer.headers["www-authenticate"].startswith("Bearer")


def _unsigned(served: Served) -> str:
    return "Bearer " + jwt.encode(served.claims(), "", algorithm="none")


def _signed_by_another_key(served: Served) -> str:
    return "Bearer " + jwt.encode(served.claims(), rsa.generate_private_key(65537, 2048), algorithm="RS256")


def _public_key_as_secret(served: Served) -> str:
    """The classic confusion: an HMAC whose secret is the issuer's public key."""
    parts = [{"alg": "HS256", "typ": "JWT"}, served.claims()]
    encoded = [base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=") for part in parts]
    signing_input = b".".join(encoded)
    public = serialization.load_pem_private_key(served.issuer.private_key, None).public_key()
    secret = public.public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    import hashlib
    import hmac

    signature = base64.urlsafe_b64encode(hmac.digest(secret, signing_input, hashlib.sha256)).rstrip(b"=")
    return "Bearer " + (signing_input + b"." + signature).decode()


def _cut(served: Served) -> str:
    return served.signed()["Authorization"][:-8]


def _of_another_scheme(served: Served) -> str:
    return served.signed()["Authorization"].replace("Bearer", "Basic")


@pytest.mark.parametrize("forged", [_unsigned, _signed_by_another_key, _public_key_as_secret, _cut, _of_another_scheme])
def test_a_forged_token_is_refused(served: Served, forged: Callable[[Served], str]) -> None:
    assert served.post("/closed", headers={"Authorization": forged(served)}, json={}).status_code == 401


@pytest.mark.parametrize("authorization", [None, "", "Bearer", "Bearer a.b.c", "Bearer \x7f"])
def test_without_a_token_there_is_no_way_in(served: Served, authorization: str | None) -> None:
    headers = {} if authorization is None else {"Authorization": authorization}
    assert served.post("/closed", headers=headers, json={}).status_code == 401


def test_a_route_with_scopes_wants_one_of_them(served: Served) -> None:
    assert served.post("/scoped", headers=served.signed(scope="read"), json={}).status_code == 403
    assert served.post("/scoped", headers=served.signed(scope="read write"), json={}).status_code == 200


@pytest.mark.parametrize(
    ("method", "path"), [("GET", "/nowhere"), ("PUT", "/open"), ("BREW", "/open"), ("GET", "/things/1")]
)
def test_an_unknown_route_is_not_found(served: Served, method: str, path: str) -> None:
    answer = httpx.request(method, served.url + path, trust_env=False)
    assert (answer.status_code, answer.json()) == (404, {"message": "Not Found"})


def test_headers_beyond_the_quota_are_refused(served: Served) -> None:
    assert served.post(json={}, headers={"x-long": "a" * 9_000}).status_code == 200
    assert served.post(json={}, headers={"x-long": "a" * 10_200}).status_code == 431


def test_a_body_beyond_the_gateways_or_lambdas_limit_is_refused(served: Served) -> None:
    for size in (MAX_BODY_BYTES + 1, 5 * 1024 * 1024):  # the latter only grows beyond 6 MB in base64
        answer = served.post(content=b"\x00" * size)
        assert (answer.status_code, answer.json()) == (413, {"message": "Request Entity Too Large"})
    assert served.post(content=b"\x00" * (4 * 1024 * 1024)).status_code == 200


def test_a_reply_beyond_lambdas_limit_is_an_internal_error(served: Served) -> None:
    body = json.dumps({"text": "é" * 1_000_000}, ensure_ascii=False).encode()  # echoed as escapes it is over 6 MB
    assert served.post(content=body, headers={"content-type": "application/json"}).status_code == 500


def test_a_reply_with_status_headers_cookies_and_bytes_arrives_so(served: Served) -> None:
    reply = {
        "statusCode": 201,
        "headers": {"x-number": 7, "content-type": "image/png", "content-length": "999"},
        "cookies": ["a=1; Path=/", "b=2"],
        "isBase64Encoded": True,
        "body": base64.b64encode(b"\x89PNG").decode(),
    }
    answer = served.post(json={"reply": reply})
    assert answer.status_code == 201
    assert answer.content == b"\x89PNG"
    assert answer.headers["x-number"] == "7"
    assert answer.headers.get_list("set-cookie") == ["a=1; Path=/", "b=2"]
    assert served.post(json={"reply": {"statusCode": 204, "body": "ignored"}}).content == b""


@pytest.mark.parametrize("reply", [{"hello": "world"}, ["a"], "text", 7])
def test_a_reply_without_status_is_the_body_of_a_200(served: Served, reply: Any) -> None:  # noqa: ANN401 - any JSON
    answer = served.post(json={"reply": reply})
    assert (answer.status_code, answer.json()) == (200, reply)
    assert answer.headers["content-type"] == "application/json"


@pytest.mark.parametrize(
    "reply",
    [
        {"statusCode": "two hundred"},
        {"statusCode": 99},
        {"statusCode": 1000},
        {"statusCode": 200, "body": {"not": "text"}},
        {"statusCode": 200, "isBase64Encoded": True, "body": "no base64!"},
        {"statusCode": 200, "headers": {"x": "a\r\nset-cookie: b"}},
        {"statusCode": 200, "headers": {"x": ["a"]}},
        {"statusCode": 200, "headers": ["x"]},
        {"statusCode": 200, "headers": {"x": "☃"}},
        {"statusCode": 200, "cookies": "a=1\n"},
    ],
    ids=str,
)
def test_a_malformed_reply_is_an_internal_error(served: Served, reply: dict[str, Any]) -> None:
    answer = served.post(json={"reply": reply})
    assert (answer.status_code, answer.json()) == (500, {"message": "Internal Server Error"})


def test_a_function_that_raises_is_an_internal_error_and_goes_on(served: Served) -> None:
    assert served.post(json={"raise": "no"}).status_code == 500
    assert served.post(json={}).status_code == 200


def test_a_function_that_exits_is_replaced(served: Served) -> None:
    answer = served.post(json={"exit": 3})
    assert (answer.status_code, answer.json()) == (500, {"message": "Internal Server Error"})
    assert served.post(json={}).status_code == 200


def test_a_worker_killed_in_the_middle_of_a_request_is_replaced(served: Served) -> None:
    mark = served.folder / str(uuid4())
    with ThreadPoolExecutor(1) as caller:
        pending = caller.submit(served.post, json={"mark": str(mark), "sleep": 60})
        killed = _await_pid(mark)
        os.kill(killed, signal.SIGKILL)
        assert pending.result().status_code == 500
    mark = served.folder / str(uuid4())
    assert served.post(json={"mark": str(mark)}).status_code == 200
    assert _await_pid(mark) != killed


def test_a_function_that_exceeds_its_time_limit_is_killed(served: Served) -> None:
    mark = served.folder / str(uuid4())
    assert served.post("/hasty", json={"mark": str(mark), "sleep": 60}).status_code == 500
    with pytest.raises(ProcessLookupError):
        os.kill(_await_pid(mark), 0)
    assert served.post("/hasty", json={}).status_code == 200


def test_the_gateway_gives_up_before_a_function_that_may_take_longer(served: Served) -> None:
    answer = served.post(json={"sleep": 10})
    assert (answer.status_code, answer.json()) == (503, {"message": "Service Unavailable"})


def _await_pid(mark: Path) -> int:
    for _ in range(6_000):
        if mark.exists():
            return int(mark.read_text())
        time.sleep(0.01)
    raise AssertionError(f"{mark} was never written")
