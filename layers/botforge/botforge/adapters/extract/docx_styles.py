"""Which paragraph styles are headings."""

import re

from botforge.adapters.extract.xml_tree import Element, attribute

_HEADING = re.compile(r"heading ([1-9])", re.IGNORECASE)  # built-in styles keep their English names in every language
TITLE = 0


def heading_levels(styles: Element | None) -> dict[str, int]:
    """The level (from 1) of each style that is one of headings, by style id; ``TITLE`` for the document's title."""
    own: dict[str, int | None] = {}
    parents: dict[str, str] = {}
    for style in () if styles is None else styles.iter("{*}style"):
        identifier = attribute(style, "styleId")
        own[identifier] = _level(style)
        parents[identifier] = value(style, "basedOn")
    return {identifier: level for identifier in own if (level := _inherited(identifier, own, parents)) is not None}


def outline_level(properties: Element) -> int | None:
    """The level that paragraph properties set outright; 9 in the file means body text."""
    text = value(properties, "outlineLvl")
    return int(text) + 1 if text.isdigit() and int(text) < 9 else None


def value(parent: Element, name: str) -> str:
    """The ``val`` attribute of a child; empty if there is none."""
    child = parent.find(f"{{*}}{name}")
    return "" if child is None else attribute(child, "val")


def _level(style: Element) -> int | None:
    name = value(style, "name")
    heading = _HEADING.fullmatch(name)
    if heading:
        return int(heading[1])
    if name.lower() == "title":
        return TITLE
    properties = style.find("{*}pPr")
    return None if properties is None else outline_level(properties)


def _inherited(identifier: str, own: dict[str, int | None], parents: dict[str, str]) -> int | None:
    for _ in range(len(own)):
        level = own.get(identifier)
        if level is not None or identifier not in parents:
            return level
        identifier = parents[identifier]
    return None
