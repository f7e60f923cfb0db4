"""Markdown: sections by their headings, everything else as it is written."""

import re

from markdown_it import MarkdownIt

from botforge.adapters.extract.decoding import clean, decode
from botforge.adapters.extract.headings import HeadingPath
from botforge.adapters.extract.text import paragraphs
from botforge.domain.chunk import Block, ExtractedText

_FRONT_MATTER = re.compile(r"\A---\n(.*?)\n(?:---|\.\.\.)\s*\n", re.DOTALL)
_TITLE = re.compile(r"^title:\s*[\"']?(.+?)[\"']?\s*$", re.MULTILINE)
_MARKUP = re.compile(r"[*_`]+|!?\[([^\]]*)\]\([^)]*\)")


def extract(body: bytes) -> ExtractedText:
    text = clean(decode(body))
    front = _FRONT_MATTER.match(text)
    named = _TITLE.search(front[1]) if front else None
    if front:
        text = text[front.end() :]
    lines = text.split("\n")
    path = HeadingPath()
    blocks: list[Block] = []
    first: str | None = None
    done = 0
    # Block structure only: inline markup is left to the reader, and an inline parser is where nesting gets costly.
    for token in MarkdownIt("commonmark").disable("inline").parse(text):
        if token.type != "heading_open" or token.level != 0 or token.map is None:
            continue
        begin, end = token.map
        blocks.extend(paragraphs("\n".join(lines[done:begin]), headings=path.path))
        heading = _plain("\n".join(lines[begin:end]))
        first = first or heading
        path.enter(int(token.tag[1]), heading)
        done = end
    blocks.extend(paragraphs("\n".join(lines[done:]), headings=path.path))
    title = named[1] if named else first
    if not blocks and first:
        blocks.append(Block(first))
    return ExtractedText(title, tuple(blocks))


def _plain(source: str) -> str:
    """A heading without its marks: ``## The *end* ##`` → ``The end``."""
    line = source.split("\n", 1)[0].strip().strip("#").strip()
    return _MARKUP.sub(lambda match: match[1] or "", line)
