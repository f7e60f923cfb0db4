"""The API through the real handlers: what works, and how everything else is refused."""

import json
import urllib.request
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from tests.functions.conftest import Api, Reply, multipart

FAQ = b"The warranty of the Nimbus bicycle lasts five years. It covers the frame.\n\nRepairs take ten days.\n"


def assert_problem(reply: Reply, status: int, code: str | None = None) -> dict[str, Any]:
    """A problem document with everything that a client needs, and no 5xx unless asked for."""
    assert reply.status == status, reply.body
    assert reply.headers["content-type"] == "application/problem+json"
    document = dict(reply.json)
    assert document["status"] == status
    assert document["title"]
    assert document["detail"]
    assert document["request_id"] == "request-1"
    if code is not None:
        assert document["code"] == code
    return document


def an_indexed_bot(api: Api) -> str:
    bot = api.create_bot()
    assert api.upload(bot, "faq.txt", FAQ).status == 202
    assert api.ingest(bot, "faq.txt") == {"batchItemFailures": []}
    return bot


def test_a_document_is_uploaded_indexed_quoted_and_after_its_deletion_quoted_no_more(api: Api) -> None:
    bot = api.create_bot()
    uploaded = api.upload(bot, "faq.txt", FAQ)
    assert (uploaded.status, uploaded.json["status"]) == (202, "pending")
    assert api.ask(bot, "How long does the warranty last?").json["abstained"]
    api.ingest(bot, "faq.txt")
    (document,) = api.documents(bot)
    assert (document["status"], document["chunk_count"]) == ("indexed", 1)

    answered = api.ask(bot, "How long does the warranty of the Nimbus bicycle last?").json
    assert "five years" in answered["response"]
    assert "[1]" in answered["response"]
    assert answered["intent"] == "information_retrieval"
    assert answered["processing_type"] == "rag_information_retrieval"
    assert answered["degraded"] == ["llm"]
    (source,) = answered["sources"]
    assert (source["filename"], source["document_id"]) == ("faq.txt", document["document_id"])
    assert 0.5 <= source["relevance"] <= 1
    assert (answered["retrieved"], answered["grounded"], answered["unsupported"]) == ([], True, [])
    with urllib.request.urlopen(source["link"]) as original:  # noqa: S310 - the test's own server
        assert original.read() == FAQ
    assert source["link_expires_in"] == 900

    deleted = api.call("DELETE", f"/upload/documents/{bot}/{document['document_id']}")
    assert (deleted.status, deleted.body) == (204, "")
    gone = api.ask(bot, "How long does the warranty of the Nimbus bicycle last?").json
    assert (gone["abstained"], gone["sources"]) == (True, [])
    assert "five years" not in gone["response"]
    assert gone["search"] == {
        "passages": 0, "documents": 0, "threshold": 0.2, "best_relevance": 0, "nearest": None,
    }  # fmt: skip
    assert api.documents(bot) == []
    api.ingest(bot, "faq.txt", event="ObjectRemoved:Delete")
    assert_problem(api.call("GET", f"/upload/documents/{bot}/{document['document_id']}"), 404)


def test_a_presigned_form_is_made_for_exactly_one_key_and_the_document_announced(api: Api) -> None:
    bot = api.create_bot()
    wish = {"bot_id": bot, "filename": "a+b%20c.pdf", "content_type": "application/pdf", "size": 1000}
    reply = api.call("POST", "/upload/documents", json_body=wish)
    assert reply.status == 201
    assert reply.json["status"] == "pending"
    form = reply.json["upload"]
    assert form["fields"]["key"] == f"{api.user}/{bot}/a+b%20c.pdf"
    assert form["expires_in"] == 3600


def test_statistics_count_what_was_asked(api: Api) -> None:
    bot = an_indexed_bot(api)
    api.ask(bot, "How long does the warranty of the Nimbus bicycle last?")
    api.ask(bot, "Who painted the Mona Lisa?")
    summed = api.call("GET", f"/vector/stats/{api.user}/{bot}?window_hours=1").json
    assert (summed["total"], summed["by_status"]) == (2, {"answered": 1, "abstained": 1})
    assert summed["by_intent"] == {"information_retrieval": 2}
    assert summed["latency_p95_ms"] >= summed["latency_p50_ms"] > 0


def test_namespaces_count_documents_and_chunks(api: Api) -> None:
    bot = an_indexed_bot(api)
    (namespace,) = api.call("GET", "/upload/namespaces").json["items"]
    assert (namespace["bot_id"], namespace["documents"], namespace["chunks"]) == (bot, 1, 1)


def test_the_text_that_answers_may_quote_can_be_read(api: Api) -> None:
    bot = an_indexed_bot(api)
    (document,) = api.documents(bot)
    page = api.call("GET", f"/upload/documents/{bot}/{document['document_id']}/chunks").json
    assert "five years" in page["items"][0]["text"]
    assert page["next_cursor"] is None


def test_a_bot_is_changed_field_by_field_and_switched_off(api: Api) -> None:
    bot = an_indexed_bot(api)
    changed = api.call("PATCH", f"/api/bots/{bot}", json_body={"is_active": False}).json
    assert (changed["is_active"], changed["name"]) == (False, "Bot")
    assert_problem(api.ask(bot, "Anything?"), 409, "bot_inactive")


def test_a_deleted_bot_is_unknown_at_once(api: Api) -> None:
    bot = an_indexed_bot(api)
    assert api.call("DELETE", f"/api/bots/{bot}").status == 204
    assert_problem(api.ask(bot, "Anything?"), 404, "bot_not_found")
    assert_problem(api.call("GET", f"/upload/documents/{bot}"), 404)
    assert_problem(api.call("DELETE", f"/api/bots/{bot}"), 404)
    assert api.call("GET", "/api/bots").json["items"] == []


def test_requests_narrow_the_answer_to_documents_a_number_and_a_threshold(api: Api) -> None:
    bot = an_indexed_bot(api)
    api.upload(bot, "other.txt", b"The warranty of the Stratus bicycle lasts nine years.")
    api.ingest(bot, "other.txt")
    ids = {document["filename"]: document["document_id"] for document in api.documents(bot)}
    question = "How long does the warranty of the bicycle last?"
    only = api.ask(bot, question, document_ids=[ids["other.txt"]], similarity_threshold=0).json
    assert {source["filename"] for source in only["sources"]} == {"other.txt"}
    assert len(api.ask(bot, question, max_chunks=1).json["sources"]) == 1
    refused = api.ask(bot, question, similarity_threshold=1).json
    assert refused["abstained"]
    assert refused["search"]["documents"] == 2
    assert refused["search"]["nearest"] in ids
    assert "2 passages in 2 documents" in refused["response"]


def test_one_tenant_never_sees_another_whatever_it_asks_for(api: Api) -> None:
    bot = an_indexed_bot(api)
    (document,) = api.documents(bot)
    stranger, unknown = uuid4(), uuid4()
    paths = [
        ("GET", f"/api/bots/{bot}", f"/api/bots/{unknown}"),
        ("PATCH", f"/api/bots/{bot}", f"/api/bots/{unknown}"),
        ("DELETE", f"/api/bots/{bot}", f"/api/bots/{unknown}"),
        ("GET", f"/upload/documents/{bot}", f"/upload/documents/{unknown}"),
        ("GET", f"/upload/documents/{bot}/{document['document_id']}", f"/upload/documents/{unknown}/{unknown}"),
        (
            "GET",
            f"/upload/documents/{bot}/{document['document_id']}/chunks",
            f"/upload/documents/{bot}/{unknown}/chunks",
        ),
        ("DELETE", f"/upload/documents/{bot}/{document['document_id']}", f"/upload/documents/{unknown}/{unknown}"),
        ("GET", f"/vector/stats/{stranger}/{bot}", f"/vector/stats/{stranger}/{unknown}"),
    ]
    for method, foreign, absent in paths:
        body: dict[str, str] | None = {} if method == "PATCH" else None
        replies = [api.call(method, path, json_body=body, user=stranger) for path in (foreign, absent)]
        assert_problem(replies[0], 404)
        assert replies[0].json == replies[1].json, f"{method} {foreign} tells a foreign id from an unknown one"
    query = {"user_id": str(stranger), "bot_id": bot, "client_id": "x", "query": "warranty?"}
    assert_problem(api.call("POST", "/vector/query", json_body=query, user=stranger), 404)
    assert_problem(api.call("POST", "/vector/query", json_body=query | {"user_id": str(api.user)}, user=stranger), 404)
    assert_problem(api.call("GET", f"/vector/stats/{api.user}/{bot}", user=stranger), 404)
    wish = {"bot_id": bot, "filename": "a.txt", "content_type": "text/plain", "size": 1}
    assert_problem(api.call("POST", "/upload/documents", json_body=wish, user=stranger), 404)
    assert api.call("GET", "/api/bots", user=stranger).json["items"] == []
    assert api.call("GET", "/upload/namespaces", user=stranger).json["items"] == []
    assert len(api.documents(bot)) == 1


QUERY = {"user_id": "{user}", "bot_id": "{bot}", "client_id": "c", "query": "q?"}


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"query": ""}, "query"),
        ({"query": "   "}, "query"),
        ({"query": "x" * 10_000}, "query"),
        ({"query": "nul \x00 inside"}, "query"),
        ({"query": 7}, "query"),
        ({"query": None}, "query"),
        ({"client_id": ""}, "client_id"),
        ({"client_id": "x" * 201}, "client_id"),
        ({"bot_id": "no-uuid"}, "bot_id"),
        ({"max_chunks": 0}, "max_chunks"),
        ({"max_chunks": 21}, "max_chunks"),
        ({"max_chunks": 1.5}, "max_chunks"),
        ({"similarity_threshold": -0.1}, "similarity_threshold"),
        ({"similarity_threshold": 1.1}, "similarity_threshold"),
        ({"document_ids": ["x"]}, "document_ids.0"),
        ({"document_ids": ["5d9f7c1e-5b1a-4c7e-9f0e-2f4f5d1c8a11"] * 101}, "document_ids"),
        ({"model": "gpt-unknown"}, "model"),
        ({"unknown": 1}, "unknown"),
    ],
)
def test_a_query_with_a_wrong_field_is_refused_by_its_name(api: Api, change: dict[str, Any], field: str) -> None:
    body = {**QUERY, "user_id": str(api.user), "bot_id": str(uuid4()), **change}
    document = assert_problem(api.call("POST", "/vector/query", json_body=body), 422)
    assert document["field"] == field
    assert document["next_step"]


@pytest.mark.parametrize("field", ["user_id", "bot_id", "client_id", "query"])
def test_a_query_without_a_field_is_refused_by_its_name(api: Api, field: str) -> None:
    body = {**QUERY, "user_id": str(api.user), "bot_id": str(uuid4())}
    del body[field]
    assert assert_problem(api.call("POST", "/vector/query", json_body=body), 422)["field"] == field


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ("", 422),
        ("{", 400),
        ("not json", 400),
        ("[]", 422),
        ('"text"', 422),
        ("null", 422),
        ('{"similarity_threshold": NaN}', 422),
        ('{"similarity_threshold": Infinity, "query": "\\ud800"}', 422),
        ('{"query": "\\ud800", "client_id": "c"}', 422),
        ('{"\\ud800": 1}', 422),
        ("[" * 20_000, 400),
        (b"\xff\xfe\x00", 400),
        ('{"a": ' * 300 + "1" + "}" * 300, 422),
        ('{"a": ' * 200_000 + "1" + "}" * 200_000, 400),  # deeper than any Python's parser goes
    ],
)
def test_a_body_that_is_no_query_ends_as_a_problem_document(api: Api, body: str | bytes, status: int) -> None:
    reply = api.call("POST", "/vector/query", body=body)
    assert reply.status in {400, 422}
    assert_problem(reply, status)


@pytest.mark.parametrize(
    "overrides",
    [
        {"body": "%%% not base64 %%%", "isBase64Encoded": True},
        {"body": "lone surrogate \ud800"},
        {"rawQueryString": "a=\ud800"},
        {"headers": {"host": "api.example.com", "x-note": "\ud800"}},
        {"body": 7},
    ],
)
def test_what_the_adapter_cannot_read_is_a_400_and_never_a_crash(api: Api, overrides: dict[str, Any]) -> None:
    assert_problem(api.call("POST", "/vector/query", **overrides), 400)


@pytest.mark.parametrize(
    "headers",
    [
        None,
        {"host": "[::1]:8080"},
        {"host": "a:xyz"},
        {"host": "a:1:2"},
        {"host": ""},
        {"x-forwarded-port": "abc"},
        {"X-Forwarded-Port": "-1"},
    ],
)
def test_odd_headers_do_not_keep_a_request_from_its_answer(api: Api, headers: dict[str, str] | None) -> None:
    assert api.call("GET", "/api/bots", headers=headers).status == 200


@pytest.mark.parametrize("event", [{}, {"version": "1.0"}, {"Records": []}, [], "text", None, {"version": "2.0"}])
def test_an_event_that_is_no_http_request_is_a_400(api: Api, event: object) -> None:
    reply = api.invoke("registry", event)
    assert reply.status == 400
    assert reply.json["code"] == "invalid_event"


def test_without_a_token_there_is_no_user(api: Api) -> None:
    authorizers: list[Any] = [None, {}, {"jwt": {"claims": {}}}, {"jwt": {"claims": {"sub": "no-uuid"}}}]
    for authorizer in authorizers:
        context = {"http": {"method": "GET", "path": "/api/bots", "sourceIp": "1.1.1.1"}, "requestId": "request-1"}
        reply = api.call("GET", "/api/bots", requestContext=context | {"authorizer": authorizer})
        assert_problem(reply, 401, "unauthenticated")


def test_a_token_is_never_believed_unchecked_outside_sam_local(api: Api) -> None:
    forged = "Bearer e30.eyJzdWIiOiIwMDAwMDAwMC0wMDAwLTAwMDAtMDAwMC0wMDAwMDAwMDAwMDAifQ.e30"
    context = {"http": {"method": "GET", "path": "/api/bots", "sourceIp": "1.1.1.1"}, "requestId": "request-1"}
    headers = {"host": "api.example.com", "authorization": forged}
    assert_problem(api.call("GET", "/api/bots", requestContext=context, headers=headers), 401)


@pytest.mark.parametrize(
    ("name", "content_type", "status", "code"),
    [
        ("../x.txt", "text/plain", 422, "invalid_name"),
        ("a/../b.txt", "text/plain", 422, "invalid_name"),
        ("", "text/plain", 422, None),
        ("x" * 1_000 + ".txt", "text/plain", 422, "invalid_name"),
        ("program.exe", "application/octet-stream", 415, "unsupported_type"),
        ("picture.png", "image/png", 415, "unsupported_type"),
        ("noextension", "application/octet-stream", 415, "unsupported_type"),
    ],
)
def test_files_that_we_do_not_take_are_refused_before_they_are_stored(
    api: Api, name: str, content_type: str, status: int, code: str | None
) -> None:
    bot = api.create_bot()
    assert_problem(api.upload(bot, name, b"content", content_type), status, code)
    assert api.documents(bot) == []


@pytest.mark.parametrize(
    "name", ["a+b%20c.txt", "naïve café.txt", "🙂.txt", "تقرير.txt", "名前 1.txt", 'it\'s "so".txt']
)
def test_names_in_any_script_reach_the_index_as_they_are(api: Api, name: str) -> None:
    bot = api.create_bot()
    stored = api.upload(bot, name, FAQ).json["path"]
    api.ingest(bot, stored)
    (document,) = api.documents(bot)
    assert (document["status"], document["filename"]) == ("indexed", stored)


def test_a_file_above_four_megabytes_is_told_to_use_the_form(api: Api) -> None:
    bot = api.create_bot()
    document = assert_problem(api.upload(bot, "big.txt", b"x" * (4 * 1024 * 1024 + 1)), 413)
    assert "presigned" in document["next_step"]
    wish = {"bot_id": bot, "filename": "big.pdf", "content_type": "application/pdf", "size": 21 * 1024 * 1024}
    assert_problem(api.call("POST", "/upload/documents", json_body=wish), 413, "document_too_large")


@pytest.mark.parametrize("content_type", ["text/plain", "", "multipart/form-data", "multipart/form-data; boundary="])
def test_an_upload_that_is_no_form_is_refused(api: Api, content_type: str) -> None:
    reply = api.call("POST", "/upload/documents", body=b"whatever", content_type=content_type)
    assert reply.status in {400, 415, 422}
    assert_problem(reply, reply.status)


def test_a_form_without_a_file_a_bot_or_with_more_is_refused(api: Api) -> None:
    bot = api.create_bot()
    for fields in ({}, {"bot_id": "x"}, {"bot_id": bot, "more": "1"}):
        body, media_type = multipart(fields, "a.txt", b"text", "text/plain")
        assert_problem(api.call("POST", "/upload/documents", body=body, content_type=media_type), 422)
    assert_problem(api.upload(bot, "a.txt", b""), 422, "empty_file")


@pytest.mark.parametrize(
    "path", ["/api/bots?limit=0", "/api/bots?limit=101", "/api/bots?limit=x", "/api/bots?cursor=%00"]
)
def test_pages_have_bounds(api: Api, path: str) -> None:
    assert_problem(api.call("GET", path), 422)


@pytest.mark.parametrize(
    "body", [{}, {"name": ""}, {"name": " "}, {"name": "x" * 201}, {"name": "a", "x": 1}, {"name": "a\x00"}]
)
def test_a_bot_needs_a_name_within_bounds(api: Api, body: dict[str, Any]) -> None:
    assert_problem(api.call("POST", "/api/bots", json_body=body), 422)


def test_an_unknown_path_and_a_wrong_method_are_problem_documents_too(api: Api) -> None:
    assert_problem(api.call("GET", "/api/nothing"), 404, "not_found")
    assert_problem(api.call("PUT", "/api/bots"), 405, "method_not_allowed")


def test_health_is_open_and_says_nothing_secret(api: Api) -> None:
    reply = api.call("GET", "/health", requestContext={"http": {"method": "GET", "path": "/health", "sourceIp": "x"}})
    assert (reply.status, reply.json["status"]) == (200, "ok")
    assert set(reply.json["dependencies"]) == {"database", "vector_index", "embedding_model", "llm", "tool_servers"}
    assert "127.0.0.1" not in reply.body
    assert "only-for-tests" not in reply.body


@pytest.mark.parametrize(("there", "status"), [(True, 200), (False, 503)])
def test_health_looks_for_the_model_of_the_backend_that_is_chosen(
    api: Api, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, *, there: bool, status: int
) -> None:
    monkeypatch.setenv("EMBEDDING_BACKEND", "sentence_transformers")
    monkeypatch.setenv("EMBEDDING_MODEL_DIR", str(tmp_path if there else tmp_path / "nowhere"))
    assert api.call("GET", "/health").status == status


def test_a_missing_database_is_a_503_that_says_so_everywhere(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgresql://user:word@127.0.0.1:1/none")
    replies = [
        api.call("GET", "/api/bots"),
        api.call("GET", "/upload/namespaces"),
        api.ask(str(uuid4()), "Anything?"),
    ]
    for reply in replies:
        assert_problem(reply, 503, "database_unavailable")
        assert reply.headers["retry-after"]
    health = api.call("GET", "/health")
    assert (health.status, health.json["dependencies"]["database"]["status"]) == (503, "unavailable")


def test_an_llm_that_is_not_there_degrades_the_answer_and_names_the_reason(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-of-tests")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/v1")
    bot = an_indexed_bot(api)
    answered = api.ask(bot, "How long does the warranty of the Nimbus bicycle last?").json
    assert "five years" in answered["response"]
    assert answered["degraded"] == ["llm"]
    assert answered["degraded_reasons"]["llm"].startswith("llm_")
    assert "sk-secret" not in json.dumps(answered)
