"""Which language a text is in is told only where it shows."""

import pytest

from botforge.domain.language import in_another_language, in_one_language, language


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("How many points did the Panthers defense surrender?", "en"),
        ("Wie viele Punkte gab die Verteidigung der Panthers ab?", "de"),
        ("¿Cuántos puntos dejaron escapar en defensa los Panthers?", "es"),
        ("Combien de points la défense des Panthers a-t-elle cédés, et quand ?", "fr"),
        ("Quanti punti ha concesso la difesa dei Panthers?", "it"),
        ("كم نقطة تخلى عنها دفاع البانثرز؟", "ar"),
        ("黑豹队的防守丢了多少分？", "zh"),
        ("パンサーズの守備は何点を許しましたか？", "ja"),
        ("पैंथर्स डिफ़ेंस ने कितने अंक दिए?", "hi"),
        ("Сколько очков пропустила защита?", "cyrillic"),
    ],
)
def test_a_sentence_shows_its_language(text: str, code: str) -> None:
    assert language(text) == code


@pytest.mark.parametrize("text", ["", "42 %", "Nimbus B1", "Garantie?", "🙂", "warranty Nimbus bicycle"])
def test_a_text_without_a_sign_has_no_known_language(text: str) -> None:
    assert language(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "Who sang the song 'Waar Is De Zon' in the Netherlands?",
        "When was the film Los Olvidados by Luis Buñuel released?",
        "What is the meaning of the word 退款 in English?",
    ],
)
def test_foreign_names_do_not_make_an_english_question_foreign(text: str) -> None:
    assert language(text) in {"en", None}


def test_what_is_not_known_is_neither_the_same_nor_another() -> None:
    english, german, unknown = (
        "What is the price of it?",
        "Was ist der Preis und wie lange gilt die Garantie?",
        "Nimbus",
    )
    assert in_one_language(english, english)
    assert in_another_language(english, german)
    assert not in_another_language(english, english)
    for other in (english, german, unknown):
        assert not in_one_language(unknown, other)
        assert not in_another_language(other, unknown)
