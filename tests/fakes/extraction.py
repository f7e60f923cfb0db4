"""An extractor of plain text."""

from botforge.domain.chunk import Block, ExtractedText
from botforge.domain.errors import DocumentFailed
from botforge.domain.reasons import Reason


class PlainTextExtractor:
    """Every line is a block. A body that begins with ``corrupt`` cannot be read."""

    def extract(self, body: bytes, *, filename: str, content_type: str) -> ExtractedText:  # noqa: ARG002
        if body.startswith(b"corrupt"):
            raise DocumentFailed(Reason.CORRUPT, "It is damaged.")
        lines = body.decode("utf-8", "replace").splitlines()
        return ExtractedText(None, tuple(Block(line) for line in lines if line.strip()))
