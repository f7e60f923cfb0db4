"""CSV: lines as they are, with the header repeated so that every passage says what its columns are."""

from botforge.adapters.extract.decoding import clean, decode
from botforge.domain.chunk import Block, ExtractedText

_ROWS = 10  # a block: small enough that a passage seldom has to be cut within one
_MAX_HEADER = 300  # characters; a longer header is not repeated


def extract(body: bytes) -> ExtractedText:
    lines = [line for line in clean(decode(body)).split("\n") if line.strip(" ,;\t|")]
    if not lines:
        return ExtractedText(None, ())
    header, rows = lines[0], lines[1:]
    if not rows or len(header) > _MAX_HEADER:
        header, rows = "", lines
    blocks = (rows[start : start + _ROWS] for start in range(0, len(rows), _ROWS))
    return ExtractedText(None, tuple(Block("\n".join(filter(None, [header, *block]))) for block in blocks))
