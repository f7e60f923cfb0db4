"""Conversations through the real handlers."""

from uuid import uuid4

import pytest
from tests.functions.conftest import Api

from botforge_dev.fakes.openai_server import API_KEY, Reply, openai_server

NIMBUS = b"The warranty of the Nimbus bicycle lasts five years.\n\nThe Nimbus bicycle weighs eleven kilograms.\n"
STRATUS = b"The Stratus bicycle weighs nineteen kilograms.\n"


def a_bot(api: Api) -> str:
    bot = api.create_bot()
    for name, text in (("nimbus.txt", NIMBUS), ("stratus.txt", STRATUS)):
        api.upload(bot, name, text)
        api.ingest(bot, name)
    return bot


def test_a_follow_up_is_understood_in_its_conversation_and_not_outside_it(api: Api) -> None:
    bot, conversation = a_bot(api), str(uuid4())
    first = api.ask(bot, "How long does the warranty of the Nimbus bicycle last?", conversation_id=conversation).json
    assert first["conversation_id"] == conversation
    assert first["searched"] == first["query"]
    follow_up = api.ask(bot, "How much does it weigh?", conversation_id=conversation).json
    assert "Nimbus" in follow_up["searched"]
    assert follow_up["query"] == "How much does it weigh?"
    assert "eleven kilograms" in follow_up["response"]
    alone = api.ask(bot, "How much does it weigh?").json
    assert (alone["searched"], alone["conversation_id"]) == ("How much does it weigh?", None)


def test_an_answer_to_the_bots_own_question_and_a_pronoun_find_what_they_mean_without_an_llm(api: Api) -> None:
    bot, language, author = api.create_bot(), str(uuid4()), str(uuid4())
    documents = {
        "german.txt": b"Courses in German: level B1 costs 300 euros and lasts ten weeks, level C1 costs 500 euros.\n",
        "karel.txt": b"Karel Dvorak wrote the novel The Glass Road. He was born in Brno in 1921.\n",
        "other.txt": b"Vera Lind wrote the novel Northern Light. She was born in Bergen in 1950.\n",
        "room.txt": b"Meeting room B1 is on the ground floor, opposite the canteen, and seats twelve people.\n",
    }
    for name, text in documents.items():
        api.upload(bot, name, text)
        api.ingest(bot, name)
    api.ask(bot, "What does a course in German cost, and for which level?", conversation_id=language)
    confirmed = api.ask(bot, "Yes, B1", conversation_id=language).json
    assert confirmed["sources"][0]["filename"] == "german.txt"
    assert api.ask(bot, "Yes, B1").json["abstained"], "alone it says too little to find anything"
    api.ask(bot, "Who wrote the novel The Glass Road?", conversation_id=author)
    born = api.ask(bot, "When was he born?", conversation_id=author).json
    assert born["sources"][0]["filename"] == "karel.txt"
    assert "1921" in born["response"]


def test_a_conversation_is_listed_read_and_deleted_by_its_owner_alone(api: Api) -> None:
    bot, conversation, stranger = a_bot(api), str(uuid4()), uuid4()
    answered = api.ask(bot, "How much does the Nimbus bicycle weigh?", conversation_id=conversation).json
    (listed,) = api.call("GET", f"/vector/conversations?bot_id={bot}").json["items"]
    assert (listed["id"], listed["bot_id"]) == (conversation, bot)
    read = api.call("GET", f"/vector/conversations/{conversation}").json
    assert [(message["role"], message["text"]) for message in read["messages"]] == [
        ("user", "How much does the Nimbus bicycle weigh?"),
        ("assistant", answered["response"]),
    ]
    later = api.call("GET", f"/vector/conversations/{conversation}?after=0").json["messages"]
    assert [message["number"] for message in later] == [1]
    for method in ("GET", "DELETE"):
        foreign = api.call(method, f"/vector/conversations/{conversation}", user=stranger)
        unknown = api.call(method, f"/vector/conversations/{uuid4()}", user=stranger)
        assert foreign.status == unknown.status == 404
        assert foreign.json == unknown.json
    assert api.call("GET", f"/vector/conversations?bot_id={bot}", user=stranger).status == 404
    assert api.call("DELETE", f"/vector/conversations/{conversation}").status == 204
    assert api.call("GET", f"/vector/conversations/{conversation}").status == 404


def test_a_conversation_with_another_bot_is_a_conflict(api: Api) -> None:
    conversation = str(uuid4())
    api.ask(a_bot(api), "How much does the Nimbus bicycle weigh?", conversation_id=conversation)
    refused = api.ask(api.create_bot(), "How much does it weigh?", conversation_id=conversation)
    assert (refused.status, refused.json["code"]) == (409, "conversation_of_another_bot")


def test_an_llm_rewrites_the_follow_up_before_anything_is_searched(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    with openai_server(lambda _: Reply("Eleven kilograms [1].")) as server:
        monkeypatch.setenv("OPENAI_API_KEY", API_KEY)
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("OPENAI_MODEL", "gpt-4o-mini")
        bot, conversation = a_bot(api), str(uuid4())
        api.ask(bot, "Tell me about the warranty of the Nimbus bicycle.", conversation_id=conversation)
        server.answer(Reply("How much does the Nimbus bicycle weigh?"), Reply("Eleven kilograms [1]."))
        answered = api.ask(bot, "And its weight?", conversation_id=conversation).json
        assert answered["searched"] == "How much does the Nimbus bicycle weigh?"
        rewriting, answering = server.requests[-2:]
        assert "And its weight?" in rewriting["messages"][1]["content"]
        assert "<turn>" in rewriting["messages"][1]["content"]
        assert answering["messages"][1]["content"].endswith("Question: How much does the Nimbus bicycle weigh?")
