"""``/api/bots/{bot_id}/routing-examples`` through the real handler."""

from typing import Any
from uuid import uuid4

import pytest
from tests.functions.conftest import Api, Reply

from botforge.domain.routing_example import MAX_EXAMPLE_CHARACTERS


def add(api: Api, bot: str, *examples: tuple[str, str], **fields: Any) -> Reply:  # noqa: ANN401 - passed on
    body = {"examples": [{"text": text, "intent": intent} for text, intent in examples]}
    return api.call("POST", f"/api/bots/{bot}/routing-examples", json_body=body, **fields)


def test_examples_are_added_read_changed_and_deleted(api: Api) -> None:
    bot = api.create_bot()
    added = add(api, bot, ("Ship it", "execution"), ("What is shipped?", "information_retrieval"))
    assert added.status == 201, added.body
    first, second = added.json["items"]
    assert (first["text"], first["intent"], first["bot_id"]) == ("Ship it", "execution", bot)
    path = f"/api/bots/{bot}/routing-examples"
    listed = api.call("GET", path).json
    assert {item["id"] for item in listed["items"]} == {first["id"], second["id"]}
    assert listed["next_cursor"] is None
    changed = api.call("PATCH", f"{path}/{first['id']}", json_body={"intent": "information_retrieval"})
    assert (changed.status, changed.json["intent"]) == (200, "information_retrieval")
    assert api.call("GET", f"{path}/{first['id']}").json == changed.json
    assert api.call("DELETE", f"{path}/{first['id']}").status == 204
    assert api.call("GET", f"{path}/{first['id']}").status == 404
    assert api.call("DELETE", f"{path}/{first['id']}").status == 404


def test_of_one_sentence_the_last_intent_counts(api: Api) -> None:
    bot = api.create_bot()
    add(api, bot, ("Ship it", "execution"), ("Ship it", "information_retrieval"))
    (item,) = api.call("GET", f"/api/bots/{bot}/routing-examples").json["items"]
    assert item["intent"] == "information_retrieval"


@pytest.mark.parametrize(
    "body",
    [
        {"examples": []},
        {"examples": [{"text": "Ship it", "intent": "dance"}]},
        {"examples": [{"text": "  ", "intent": "execution"}]},
        {"examples": [{"text": "x" * (MAX_EXAMPLE_CHARACTERS + 1), "intent": "execution"}]},
        {"examples": [{"text": f"Number {number}", "intent": "execution"} for number in range(51)]},
    ],
)
def test_what_is_out_of_bounds_is_refused(api: Api, body: dict[str, Any]) -> None:
    reply = api.call("POST", f"/api/bots/{api.create_bot()}/routing-examples", json_body=body)
    assert reply.status == 422, reply.body


def test_a_change_must_change_something(api: Api) -> None:
    bot = api.create_bot()
    (item,) = add(api, bot, ("Ship it", "execution")).json["items"]
    path = f"/api/bots/{bot}/routing-examples/{item['id']}"
    assert api.call("PATCH", path, json_body={}).status == 422


def test_another_tenants_bot_is_unknown(api: Api) -> None:
    bot, stranger = api.create_bot(), uuid4()
    (item,) = add(api, bot, ("Ship it", "execution")).json["items"]
    path = f"/api/bots/{bot}/routing-examples"
    assert add(api, bot, ("Mine", "execution"), user=stranger).status == 404
    assert api.call("GET", path, user=stranger).status == 404
    assert api.call("GET", f"{path}/{item['id']}", user=stranger).status == 404
    assert api.call("PATCH", f"{path}/{item['id']}", json_body={"text": "Mine"}, user=stranger).status == 404
    assert api.call("DELETE", f"{path}/{item['id']}", user=stranger).status == 404
    assert api.call("GET", f"{path}/{item['id']}").json["text"] == "Ship it"
