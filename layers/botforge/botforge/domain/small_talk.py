"""Greetings, thanks and empty talk: messages that need neither documents nor tools.

A message is small talk only if phrases of the table cover all of it. So a greeting before a question never hides the
question, and what is not in the table is treated as meant: to answer a greeting with a search does less harm than to
answer a question with a greeting. "Yes", "no" and "okay" are not in it, as they can answer something.
"""

import re
import unicodedata
from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType


class SmallTalk(StrEnum):
    GREETING = "greeting"
    WELL_BEING = "well_being"  # how are you
    THANKS = "thanks"
    FAREWELL = "farewell"
    NOTHING = "nothing"  # no word at all: punctuation, pictures


MAX_CHARACTERS = 80  # nothing longer is small talk, and nobody pays for finding that out

# One phrase between bars; in the spelling that `_folded` gives: lower case, no accents, no punctuation.
_PHRASES: Mapping[SmallTalk, str] = MappingProxyType({
    SmallTalk.WELL_BEING: """
        how are you | how are you doing | how are you today | how are you doing today | how is it going | hows it going
        | how do you do | whats up | what is up | sup | how have you been | hope you are well | hope youre well
        | hope you are doing well | nice to meet you | pleased to meet you
        | wie geht es dir | wie gehts | wie geht es ihnen | wie gehts dir | ca va | comment ca va | comment allez vous
        | comment vas tu | como estas | como esta | que tal | como esta usted | como vai | tudo bem | como voce esta
        | come stai | come va | come sta | hoe gaat het | jak sie masz | co slychac | nasilsin | naber
        | как дела | как ты | 你好吗 | 最近好吗 | お元気ですか | 元気ですか | 잘 지내요 | كيف حالك | كيف الحال | आप कैसे हैं
    """,
    SmallTalk.THANKS: """
        thanks | thank you | thanks a lot | thanks a million | thanks so much | thank you so much | thank you very much
        | thanks very much | many thanks | much appreciated | i appreciate it | appreciate it | i appreciate your help
        | thx | ty | tysm | cheers | thank u | thanks for your help | thank you for your help | thanks for the help
        | thanks for helping me | thank you for helping me | thanks for everything | that helped | that was helpful
        | that is helpful | thats helpful | that is great | thats great | thats perfect | that is perfect
        | very helpful | well done | good job | great job | nice work | good bot | you are the best | youre the best
        | you are great | you are awesome | youre awesome | great | awesome | perfect | wonderful | excellent | amazing
        | fantastic | brilliant | lovely | cool | nice | haha | hahaha | lol | that is all | thats all | nothing else
        | danke | danke schon | danke dir | danke ihnen | vielen dank | besten dank | herzlichen dank | danke sehr
        | merci | merci beaucoup | merci bien | mille mercis | gracias | muchas gracias | mil gracias
        | obrigado | obrigada | muito obrigado | muito obrigada | grazie | grazie mille | molte grazie
        | dank je | dank u | bedankt | dank je wel | dank u wel | dziekuje | dzieki | dziekuje bardzo
        | tesekkurler | tesekkur ederim
        | sagol | спасибо | большое спасибо | спасибо большое | дякую | 谢谢 | 谢谢你 | 多谢 | 謝謝 | ありがとう
        | ありがとうございます | どうも | 감사합니다 | 고마워요 | 고마워 | شكرا | شكرا لك | شكرا جزيلا | धन्यवाद | शुक्रिया
        | tack | tack sa mycket | takk | tusen takk | tak | mange tak | kiitos | kiitos paljon | multumesc
    """,
    SmallTalk.FAREWELL: """
        bye | bye bye | goodbye | good bye | see you | see you later | see ya | see you soon | see you tomorrow | cya
        | talk to you later | ttyl | have a nice day | have a great day | have a good day | have a good one | take care
        | good night | goodnight | have a nice weekend | have a great weekend | until next time | farewell
        | tschuss | tschus | auf wiedersehen | bis bald | bis spater | ciao ciao | gute nacht | schonen tag noch
        | au revoir | a bientot | bonne journee | bonne nuit | a plus tard | adios | hasta luego | hasta pronto
        | hasta manana | buenas noches | que tengas un buen dia | tchau | ate logo | boa noite | arrivederci
        | buona notte | buonanotte | a presto | tot ziens | doei | do widzenia | gorusuruz | iyi geceler
        | пока | до свидания | 再见 | 拜拜 | さようなら | またね | 안녕히 계세요 | مع السلامة | अलविदा | hej da
    """,
    SmallTalk.GREETING: """
        hi | hello | hey | hiya | howdy | yo | hi there | hello there | hey there | heya | greetings | welcome back
        | good morning | good afternoon | good evening | good day | morning | evening | hello again | hi again
        | hallo | guten tag | guten morgen | guten abend | servus | moin | gruss gott | gruezi | hallo zusammen
        | bonjour | bonsoir | salut | coucou | hola | buenos dias | buenas tardes | buenas | ola | oi | bom dia
        | boa tarde | ciao | buongiorno | buonasera | salve | goedemorgen | goedemiddag | goedenavond | hoi
        | czesc | dzien dobry | dobry wieczor | merhaba | selam | gunaydin | iyi aksamlar
        | привет | здравствуйте | здравствуй | добрый день | доброе утро | добрый вечер | привіт
        | 你好 | 您好 | 嗨 | 早上好 | 下午好 | 晚上好 | こんにちは | こんばんは | おはよう | おはようございます | やあ
        | 안녕하세요 | 안녕 | مرحبا | السلام عليكم | اهلا | صباح الخير | مساء الخير | नमस्ते | नमस्कार
        | hej | hejsan | god morgon | god dag | hei | moi | terve | buna | buna ziua | xin chao | sawasdee
    """,
})  # fmt: skip

# Words that may stand between phrases and say nothing themselves.
_FILLERS = frozenset(
    re.findall(
        r"\S+",
        """
        and oh well so then now all everyone everybody team folks guys friend friends buddy mate sir madam dear bot
        assistant chatbot there again very much und et y e
        """,
    )
)

_REPLIES: Mapping[SmallTalk, str] = MappingProxyType(
    {
        SmallTalk.GREETING: "Hello! What can I do for you?",
        SmallTalk.WELL_BEING: "All is well here, thank you. What can I do for you?",
        SmallTalk.THANKS: "You're welcome! Is there anything else I can do?",
        SmallTalk.FAREWELL: "Goodbye, and come back any time.",
        SmallTalk.NOTHING: "I see no words in your message. What would you like to know or to have done?",
    }
)


def small_talk(text: str) -> SmallTalk | None:
    """What kind of small talk the message is; None if anything in it is more than that."""
    if len(text) > MAX_CHARACTERS:
        return None
    words = _folded(text).split()
    if not words:
        return SmallTalk.NOTHING
    kinds = [_TABLE[phrase] for phrase in _covering(words) if phrase in _TABLE]
    # "hi, thanks, bye" is answered as what the message ends on.
    return kinds[-1] if kinds else None


def reply_to(kind: SmallTalk) -> str:
    return _REPLIES[kind]


def _covering(words: list[str]) -> list[str]:
    """Phrases and fillers that make up all the words, longest first; nothing if some word is left over."""
    found: list[str] = []
    start = 0
    while start < len(words):
        ends = range(min(len(words), start + _LONGEST), start, -1)
        candidates = (" ".join(words[start:end]) for end in ends)
        phrase = next((one for one in candidates if one in _TABLE or one in _FILLERS), None)
        if phrase is None:
            return []
        found.append(phrase)
        start += phrase.count(" ") + 1
    return found


def _folded(text: str) -> str:
    """Lower case, without accents and punctuation; letters drawn out ("hellooo") are shortened."""
    decomposed = unicodedata.normalize("NFKD", text.casefold().replace("ß", "ss"))
    kept = "".join(
        "" if character in "'’ʼ`" else character if _speaks(character) else " "
        for character in decomposed
        if not _is_latin_accent(character)
    )
    return re.sub(r"([a-z])\1{2,}", r"\1", unicodedata.normalize("NFC", kept)).strip()


def _speaks(character: str) -> bool:
    """Letters, digits, and the marks that scripts such as Devanagari write vowels with."""
    return unicodedata.category(character)[0] in "LNM" and character != "\ufe0f"


def _is_latin_accent(character: str) -> bool:
    return "\u0300" <= character <= "\u036f"


def _table() -> dict[str, SmallTalk]:
    table: dict[str, SmallTalk] = {}
    for kind, phrases in _PHRASES.items():
        for phrase in phrases.split("|"):
            table[_folded(" ".join(phrase.split()))] = kind
    return table


_TABLE = _table()
_LONGEST = max(phrase.count(" ") + 1 for phrase in _TABLE)
