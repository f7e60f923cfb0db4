"""Which names a document may have."""

import pytest

from botforge.domain.errors import InvalidRequest
from botforge.domain.naming import MAX_PATH_BYTES, checked_path


@pytest.mark.parametrize(
    "path", ["a+b%20c.pdf", "reports/2026.pdf", "🙂.txt", "تقرير.pdf", "名前.docx", ".hidden.txt", "a b.md"]
)
def test_names_of_any_script_are_kept(path: str) -> None:
    assert checked_path(path) == path


def test_names_are_composed() -> None:
    assert checked_path("u\u0308.txt") == "ü.txt"


@pytest.mark.parametrize(
    "path",
    [
        "",
        "  ",
        "../x",
        "a/../b",
        "/etc/passwd",
        "a//b",
        "./a",
        "a/",
        "a\\b",
        "nul\x00.txt",
        "tab\t.txt",
        "\ud800.txt",
        "x" * (MAX_PATH_BYTES + 1),
        "ü" * MAX_PATH_BYTES,
    ],
)
def test_names_that_could_be_taken_for_another_are_refused(path: str) -> None:
    with pytest.raises(InvalidRequest) as raised:
        checked_path(path)
    assert raised.value.code == "invalid_name"
