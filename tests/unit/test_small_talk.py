"""Greetings and thanks are recognised; nothing that asks or orders is swallowed."""

import pytest

from botforge.domain.small_talk import MAX_CHARACTERS, SmallTalk, reply_to, small_talk


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Hi!", SmallTalk.GREETING),
        ("hello there :)", SmallTalk.GREETING),
        ("Hellooo", SmallTalk.GREETING),
        ("Good morning, team", SmallTalk.GREETING),
        ("Привет", SmallTalk.GREETING),
        ("नमस्ते", SmallTalk.GREETING),
        ("¡Hola, buenos días!", SmallTalk.GREETING),
        ("hi, how are you?", SmallTalk.WELL_BEING),
        ("Ça va ?", SmallTalk.WELL_BEING),
        ("Thanks a lot!!", SmallTalk.THANKS),
        ("Merci beaucoup !", SmallTalk.THANKS),
        ("ありがとうございます！", SmallTalk.THANKS),
        ("謝謝", SmallTalk.THANKS),
        ("Thanks, bye", SmallTalk.FAREWELL),
        ("Tschüss", SmallTalk.FAREWELL),
        ("...", SmallTalk.NOTHING),
        ("👍", SmallTalk.NOTHING),
    ],
)
def test_small_talk_is_told_by_its_kind(text: str, kind: SmallTalk) -> None:
    assert small_talk(text) is kind
    assert reply_to(kind)


@pytest.mark.parametrize(
    "text",
    [
        "Hi, what is my balance?",
        "hello, cancel my order",
        "Thanks. What is the recommended dose?",
        "thank you note template",
        "Who sang Hello?",
        "say thanks to Maria",
        "Good morning America schedule",
        "What is good night in Spanish?",
        "merci meaning",
        "yes",
        "no",
        "ok",
        "2+2",
        "¿Qué tal el vuelo?",
        "你好是什么意思",
        "so",
        "and you",
        "book",
    ],
)
def test_a_message_with_anything_more_than_small_talk_is_meant(text: str) -> None:
    assert small_talk(text) is None


def test_a_long_message_is_never_small_talk() -> None:
    greeting = "hi " * (MAX_CHARACTERS // 3)
    assert small_talk(greeting) is SmallTalk.GREETING
    assert small_talk(greeting + "hi hi") is None
