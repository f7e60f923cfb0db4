"""The bounds that hold for every format."""

import pytest

from botforge.adapters.extract.by_format import extract
from botforge.adapters.extract.limits import Limits
from botforge.domain.errors import DocumentFailed
from botforge.domain.reasons import Reason


@pytest.mark.parametrize("limits", [Limits(characters=100), Limits(blocks=10)])
@pytest.mark.parametrize(("filename", "separator"), [("a.txt", "\n\n"), ("a.md", "\n\n"), ("a.html", "<p>")])
def test_more_text_than_a_document_may_hold_is_too_complex(filename: str, separator: str, limits: Limits) -> None:
    body = separator.join(["paragraph"] * 20).encode()

    with pytest.raises(DocumentFailed) as caught:
        extract(body, filename=filename, content_type="", limits=limits)

    assert caught.value.reason is Reason.TOO_COMPLEX
    assert len(extract(body, filename=filename, content_type="").blocks) == 20
