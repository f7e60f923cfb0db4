"""Which file names we store."""

import unicodedata

from botforge.domain.errors import InvalidRequest
from botforge.domain.ids import MAX_KEY_BYTES

_KEY_PREFIX_BYTES = 74  # two UUIDs and two slashes
MAX_PATH_BYTES = MAX_KEY_BYTES - _KEY_PREFIX_BYTES


def checked_path(path: str, *, field: str = "filename") -> str:
    """The path as it is stored: composed (NFC), relative, without control characters.

    Raises InvalidRequest for what could be mistaken for another path, or not be written down at all.
    """
    composed = unicodedata.normalize("NFC", path)
    problem = _problem(composed)
    if problem:
        raise InvalidRequest(
            f"The file name {problem}.",
            code="invalid_name",
            field=field,
            next_step="Use a relative name such as reports/2026.pdf.",
        )
    return composed


def _problem(path: str) -> str | None:
    segments = path.split("/")
    if not path.strip():
        return "is empty"
    if any(unicodedata.category(character) in {"Cc", "Cs"} for character in path):
        return "holds control characters or lone surrogates"
    if len(path.encode("utf-8")) > MAX_PATH_BYTES:
        return f"is longer than {MAX_PATH_BYTES} bytes"
    if "\\" in path or any(segment in {"", ".", ".."} for segment in segments):
        return "holds an empty, '.' or '..' segment or a backslash"
    return None
