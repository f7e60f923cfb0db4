"""Bounds on what a document may cost, shared by all readers."""

from botforge.domain.errors import DocumentFailed
from botforge.domain.reasons import Reason

MAX_CHARACTERS = 10_000_000  # of text out of one document
MAX_PAGES = 3_000
MAX_INFLATED_BYTES = 100 * 1024 * 1024  # of an archive's members together
MAX_DEPTH = 100  # of nested elements, lists or objects


def too_complex(what: str) -> DocumentFailed:
    return DocumentFailed(Reason.TOO_COMPLEX, what)
