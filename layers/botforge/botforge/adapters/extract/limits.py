"""How much of a document is read before it counts as too complex.

The bounds hold for honest documents with room to spare: a page of prose is about 3,000 characters, so ten million
characters are some 3,000 pages, more than what is embedded of one document in the end.
"""

from dataclasses import dataclass

from botforge.domain.errors import DocumentFailed
from botforge.domain.reasons import Reason


@dataclass(frozen=True, slots=True)
class Limits:
    characters: int = 10_000_000  # of extracted text
    blocks: int = 500_000
    pages: int = 3_000
    inflated_bytes: int = 64 * 1024 * 1024  # of all parts read from one archive
    archive_entries: int = 10_000
    depth: int = 200  # of nested elements or values


DEFAULT_LIMITS = Limits()


def too_complex(what: str) -> DocumentFailed:
    """The error for a document that goes beyond a bound; ``what`` finishes the sentence "It ..."."""
    return DocumentFailed(Reason.TOO_COMPLEX, f"It {what}.")
