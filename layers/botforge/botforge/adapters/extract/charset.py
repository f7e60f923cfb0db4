"""Bytes into text, whatever encoding they are in."""

import codecs
import re
import unicodedata

_BOMS = (  # UTF-32's little-endian mark begins with UTF-16's
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_SAMPLE = 200_000  # bytes that a guess looks at
_PARAMETER = re.compile(r"charset\s*=\s*[\"']?([\w.:-]{2,40})", re.IGNORECASE)
_ALIASES = {"iso-8859-1": "cp1252", "latin-1": "cp1252", "latin1": "cp1252", "us-ascii": "cp1252", "ascii": "cp1252"}
_GUESSED = (
    *("cp1250", "cp1251", "cp1252", "cp1253", "cp1254", "cp1255"),
    *("cp1256", "cp1257", "cp1258", "cp874", "cp866", "cp850", "koi8-r", "koi8-u", "iso8859-2", "iso8859-5"),
    *("iso8859-6", "iso8859-7", "iso8859-8", "iso8859-9", "iso8859-13", "iso8859-15", "mac-roman", "mac-cyrillic"),
    *("shift_jis", "euc-jp", "iso-2022-jp", "gb18030", "big5", "cp949", "euc-kr", "iso-2022-kr", "hz"),
)
# Letters and signs of western European text: a few of these among plain ASCII are too little for a guess by language.
_WESTERN = frozenset("àâäáãåæçéèêëíìîïñóòôöõøœúùûüÿßÀÂÄÁÃÅÆÇÉÈÊËÍÌÎÏÑÓÒÔÖÕØŒÚÙÛÜ“”‘’„‚«»–—…•€£§°©®™¡¿ªº×±µ½¼\xa0")
_WIDE = ("utf-32-le", "utf-32-be", "utf-16-le", "utf-16-be")
_WIDE_SAMPLE = 4096  # bytes
_NO_CONTROLS = re.compile(rb"[^\x00-\x08\x0e-\x1a\x1c-\x1f]*")  # escape is ISO 2022's
_NO_TEXT = frozenset({"Cc", "Cn", "Co", "Cs"})
_SPACES = frozenset("\t\n\r\x0c")
_COMMON = frozenset("。、，！？・「」（）：・،؟। \u3000่้")
_SURE = 0.15  # of chardet's confidence, which is a margin over the next best rather than a probability


def charset_parameter(content_type: str) -> str | None:
    """The ``charset`` parameter of a media type."""
    match = _PARAMETER.search(content_type)
    return match[1] if match else None


def decode(body: bytes, *, declared: str | None = None) -> str:
    """The text of ``body``: by its byte order mark, as declared, as UTF-8 if it is that, or by a guess.

    Never raises: bytes that fit no reading become U+FFFD.
    """
    for mark, encoding in _BOMS:
        if body.startswith(mark):
            return body[len(mark) :].decode(encoding, "replace")
    wide = unmarked_utf(body)
    if wide:
        return body.decode(wide, "replace")
    if b"\x1b" not in body:  # ISO 2022 is valid UTF-8 as well
        for candidate in ("utf-8", declared):
            text = _strict(body, candidate) if candidate else None
            if text is not None:
                return text
    return body.decode(_guess(body[:_SAMPLE]), "replace")


def unmarked_utf(body: bytes) -> str | None:
    """UTF-16 or UTF-32 without a byte order mark: the reading in which all is text and most is commonplace.

    In no other encoding does text hold control bytes, and here any line end, any digit is one.
    """
    sample = body[:_WIDE_SAMPLE]
    if _NO_CONTROLS.fullmatch(sample):
        return None
    best = max(_WIDE, key=lambda encoding: _commonplace(sample, encoding))
    return best if _commonplace(sample, best) > 0 else None


def _commonplace(sample: bytes, encoding: str) -> float:
    """The share of characters that texts in all scripts use; 0 if ``sample`` is no text in this encoding."""
    try:
        text = codecs.getincrementaldecoder(encoding)("strict").decode(sample)
    except UnicodeDecodeError:
        return 0
    if not text or any(unicodedata.category(character) in _NO_TEXT and character not in _SPACES for character in text):
        return 0
    return sum(character in _COMMON or character.isascii() for character in text) / len(text)


def _strict(body: bytes, encoding: str) -> str | None:
    try:
        return body.decode(_ALIASES.get(encoding.lower(), encoding))
    except (LookupError, ValueError):  # no such text encoding, or not in it
        return None


def _guess(sample: bytes) -> str:
    import chardet  # 0.2 s, and most documents are UTF-8

    found = chardet.detect(sample, include_encodings=("ascii", "utf-8", *_GUESSED), prefer_superset=True)
    encoding = found["encoding"] or "utf-8"
    if found["confidence"] < _SURE and _is_western(sample):
        return "cp1252"
    return encoding


def _is_western(sample: bytes) -> bool:
    text = _strict(sample, "cp1252")
    if text is None:
        return False
    marked = [character for character in text if not character.isascii()]
    return len(marked) * 4 <= len(text) and _WESTERN.issuperset(marked)
