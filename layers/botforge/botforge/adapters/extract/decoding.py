"""Bytes to text: byte-order marks, declared encodings, UTF-8, UTF-16 without a mark, and an educated guess."""

import codecs
import re
import unicodedata

from charset_normalizer import from_bytes

_MARKS = (  # longer ones first: UTF-32's little-endian mark begins with UTF-16's
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_DECLARED = re.compile(rb"""(?:charset|encoding)\s*=\s*["']?\s*([A-Za-z0-9_.:-]{2,40})""")
_DECLARATION_BYTES = 2_048
_SAMPLE_BYTES = 64 * 1024
_BIDI_AND_INVISIBLE = dict.fromkeys(
    map(ord, "\u00ad\u200b\u200e\u200f\u2060\u2066\u2067\u2068\u2069\u202a\u202b\u202c\u202d\u202e\ufeff")
)
_CONTROL = {code: " " for code in range(32) if chr(code) not in "\t\n\r"} | {0x7F: None}


def decode(body: bytes, *, declared: bool = False) -> str:
    """The text of ``body``; ``declared``: look for an encoding that an HTML or XML head declares.

    Never raises: what cannot be decoded becomes U+FFFD.
    """
    for mark, encoding in _MARKS:
        if body.startswith(mark):
            return body.decode(encoding, "replace")
    unmarked = _utf16_without_mark(body)
    if unmarked:
        return body.decode(unmarked, "replace")
    if declared and (named := _declared(body)):
        return body.decode(named, "replace")
    try:
        return body.decode("utf-8")
    except UnicodeDecodeError:
        return body.decode(_guess(body), "replace")


def clean(text: str) -> str:
    """Text fit for search and storage: composed (NFC), with plain line ends, and without characters that only steer
    display (soft hyphens, directional marks, zero-width spaces) or that PostgreSQL refuses (NUL, lone surrogates)."""
    text = text.replace("\r\n", "\n").replace("\r", "\n").translate(_CONTROL | _BIDI_AND_INVISIBLE)
    text = text.encode("utf-8", "replace").decode("utf-8")
    return unicodedata.normalize("NFC", text)


def _utf16_without_mark(body: bytes) -> str | None:
    """Western text in UTF-16 has a NUL in every other byte."""
    sample = body[:_SAMPLE_BYTES]
    if len(sample) < 4 or len(body) % 2:
        return None
    even, odd = sample[::2].count(0), sample[1::2].count(0)
    half = len(sample) // 2
    if odd > 0.4 * half and even < 0.05 * half:
        return "utf-16-le"
    if even > 0.4 * half and odd < 0.05 * half:
        return "utf-16-be"
    return None


def _declared(body: bytes) -> str | None:
    match = _DECLARED.search(body[:_DECLARATION_BYTES])
    if match is None:
        return None
    name = match[1].decode("ascii").lower()
    try:
        found = codecs.lookup(name)
    except LookupError:
        return None
    if found.name.startswith(("utf-16", "utf-32")):
        return "utf-8"  # a head that could be read as ASCII is not UTF-16, whatever it says (HTML Standard, 13.2.3.2)
    # Browsers read ISO 8859-1 and ASCII as windows-1252 (Encoding Standard, "Names and labels").
    return "cp1252" if found.name in {"iso8859-1", "ascii"} else found.name


def _guess(body: bytes) -> str:
    best = from_bytes(body[:_SAMPLE_BYTES]).best()
    # Short texts give the detector too little: then windows-1252, by far the most frequent of what is left.
    if best is None or len(body) < 64:
        return "cp1252"
    return best.encoding
