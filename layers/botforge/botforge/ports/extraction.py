"""Reading text out of documents."""

from typing import Protocol

from botforge.domain.chunk import ExtractedText


class Extractor(Protocol):
    def extract(self, body: bytes, *, filename: str, content_type: str) -> ExtractedText:
        """The document's text, in reading order.

        Raises DocumentRejected (a format that we do not read, or bytes that are not what the name says) or
        DocumentFailed (damaged, encrypted, without text, or beyond the limits of time and memory).
        """
        ...
