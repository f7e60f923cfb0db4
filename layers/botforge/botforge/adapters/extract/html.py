"""HTML: what a reader would see, in the order of the source."""

import re

from botforge.adapters.extract.charset import charset_parameter, decode
from botforge.adapters.extract.html_reader import MarkupReader
from botforge.adapters.extract.limits import DEFAULT_LIMITS, Limits
from botforge.adapters.extract.xml_tree import parse_html
from botforge.domain.chunk import ExtractedText

_META = re.compile(
    rb"""<meta[^>]{0,300}?charset\s*=\s*["']?([\w.:-]{2,40})|<\?xml[^>]{0,100}?encoding=["']([\w.-]{2,40})""",
    re.IGNORECASE,
)
_META_WITHIN = 4096  # bytes; the HTML standard asks authors for the first 1,024


def read(body: bytes, content_type: str = "", _limits: Limits = DEFAULT_LIMITS) -> ExtractedText:
    declared = _META.search(body[:_META_WITHIN])
    named = (declared[1] or declared[2]).decode("ascii", "ignore") if declared else None
    return read_markup(decode(body, declared=charset_parameter(content_type) or named))


def read_markup(markup: str) -> ExtractedText:
    """The text of HTML that is decoded already."""
    root = parse_html(markup)
    if root is None:
        return ExtractedText(None, ())
    title = root.find(".//title")
    name = "".join(map(str, title.itertext())) if title is not None else None
    return ExtractedText(name, tuple(MarkupReader().read(root)))
