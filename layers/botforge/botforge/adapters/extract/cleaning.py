"""What every extracted text goes through before anything is made of it."""

import re
import unicodedata
from collections.abc import Iterable, Iterator

from botforge.adapters.extract.limits import Limits, too_complex
from botforge.domain.chunk import Block, ExtractedText

# Removed: controls (Postgres refuses NUL), lone surrogates, noncharacters, byte order marks; soft hyphens, which only
# say where a word may be broken; and the marks that steer the display of right-to-left text, which stands in logical
# order here, so that they change nothing but what a reader is led to believe. Zero-width joiners and spaces stay:
# Persian, the Indic scripts, Khmer and emoji are spelt with them.
_REMOVED = re.compile(
    "[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\u00ad\u061c\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff\ufffe\uffff"
    "\ufdd0-\ufdef\ud800-\udfff]"
)
_LINE_BREAKS = re.compile("\r\n|[\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
_GAPS = re.compile(r"(?<=\S)[^\S\n]+")
_INDENTATION = re.compile(r"(?m)^[^\S\n]+")
_LINE_ENDS = re.compile(r"[^\S\n]+(?=\n|\Z)")
_BLANK_LINES = re.compile(r"\n{3,}")
_MAX_INDENTATION = 16
_MAX_TITLE = 200  # characters
_MAX_HEADING = 300


def cleaned(extracted: ExtractedText, limits: Limits) -> ExtractedText:
    """The same text, composed (NFC), without what no reader sees, and without empty blocks.

    Raises DocumentFailed (too_complex) beyond the bounds for characters and blocks.
    """
    title = clean_line(extracted.title or "")[:_MAX_TITLE].strip() or None
    return ExtractedText(title, tuple(_bounded(extracted.blocks, limits)), extracted.notes)


def clean_text(text: str) -> str:
    """Composed text whose lines keep (some of) their indentation; other runs of white space become one space."""
    text = _LINE_BREAKS.sub("\n", text)
    text = unicodedata.normalize("NFC", _REMOVED.sub("", text))
    text = _GAPS.sub(" ", text)
    text = _INDENTATION.sub(lambda match: " " * min(len(match[0]), _MAX_INDENTATION), text)
    text = _LINE_ENDS.sub("", text)  # last: on long runs of spaces it would take quadratic time
    return _BLANK_LINES.sub("\n\n", text).strip("\n")


def clean_line(text: str) -> str:
    """The same as one line."""
    return " ".join(clean_text(text).split())


def _bounded(blocks: Iterable[Block], limits: Limits) -> Iterator[Block]:
    characters = count = 0
    for block in blocks:
        text = clean_text(block.text)
        if not text.strip():
            continue
        count += 1
        characters += len(text)
        if characters > limits.characters:
            raise too_complex(f"holds more than {limits.characters} characters of text")
        if count > limits.blocks:
            raise too_complex(f"holds more than {limits.blocks} paragraphs")
        headings = (clean_line(heading)[:_MAX_HEADING].strip() for heading in block.headings)
        yield Block(text, tuple(filter(None, headings)), block.page, clean_text(block.header))
