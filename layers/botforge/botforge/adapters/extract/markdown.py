"""Markdown (CommonMark and tables), by way of the HTML that it stands for."""

import re

from markdown_it import MarkdownIt

from botforge.adapters.extract.charset import charset_parameter, decode
from botforge.adapters.extract.html import read_markup
from botforge.adapters.extract.limits import DEFAULT_LIMITS, Limits
from botforge.adapters.extract.text import paragraphs
from botforge.domain.chunk import ExtractedText

_FRONT_MATTER = re.compile(r"\A---[ \t]*\n(.*?\n)(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_TITLE = re.compile(r"(?m)^title[ \t]*:[ \t]*(.+)$")


def read(body: bytes, content_type: str = "", _limits: Limits = DEFAULT_LIMITS) -> ExtractedText:
    text = decode(body, declared=charset_parameter(content_type)).replace("\r\n", "\n").replace("\r", "\n")
    front = _FRONT_MATTER.match(text)
    markdown = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    page = read_markup(markdown.render(text[front.end() :] if front else text))
    if front is None:
        return page
    named = _TITLE.search(front[1])
    title = named[1].strip().strip("\"'") if named else page.title
    return ExtractedText(title, (*paragraphs(front[1]), *page.blocks))
