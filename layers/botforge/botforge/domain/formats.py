"""The formats that we read, by the names and media types they go under."""

from enum import StrEnum
from types import MappingProxyType


class Format(StrEnum):
    TEXT = "text"
    MARKDOWN = "markdown"
    HTML = "html"
    PDF = "pdf"
    DOCX = "docx"
    CSV = "csv"
    JSON = "json"


_BY_EXTENSION = MappingProxyType(
    {
        "txt": Format.TEXT,
        "text": Format.TEXT,
        "log": Format.TEXT,
        "md": Format.MARKDOWN,
        "markdown": Format.MARKDOWN,
        "html": Format.HTML,
        "htm": Format.HTML,
        "xhtml": Format.HTML,
        "pdf": Format.PDF,
        "docx": Format.DOCX,
        "csv": Format.CSV,
        "tsv": Format.CSV,
        "json": Format.JSON,
        "jsonl": Format.JSON,
        "ndjson": Format.JSON,
    }
)

_BY_MEDIA_TYPE = MappingProxyType(
    {
        "text/plain": Format.TEXT,
        "text/markdown": Format.MARKDOWN,
        "text/x-markdown": Format.MARKDOWN,
        "text/html": Format.HTML,
        "application/xhtml+xml": Format.HTML,
        "application/pdf": Format.PDF,
        "application/vnd.openxmlformats-officedocument.wordprocessingml.document": Format.DOCX,
        "text/csv": Format.CSV,
        "text/tab-separated-values": Format.CSV,
        "application/json": Format.JSON,
        "application/jsonl": Format.JSON,
        "application/x-ndjson": Format.JSON,
    }
)

SUPPORTED_EXTENSIONS = tuple(_BY_EXTENSION)


def extension_of(filename: str) -> str:
    """The lower-case extension without its dot; empty if there is none."""
    name = filename.rsplit("/", 1)[-1]
    return name.rsplit(".", 1)[-1].lower() if "." in name.lstrip(".") else ""


def format_of(filename: str, content_type: str) -> Format | None:
    """The format that a name and a media type promise; None if we read no such thing.

    The extension decides: media types are guessed by whoever uploads (``binary/octet-stream`` from the command
    line). Only a name without an extension is judged by its media type.
    """
    extension = extension_of(filename)
    if extension:
        return _BY_EXTENSION.get(extension)
    return _BY_MEDIA_TYPE.get(content_type.split(";", 1)[0].strip().lower())
