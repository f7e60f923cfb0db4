"""XML without anything from outside: no entities, no DTD, no network, and libxml2's own bounds on depth and size."""

from typing import TypeAlias

from lxml import etree

Element: TypeAlias = etree._Element  # noqa: SLF001 # pyright: ignore[reportPrivateUsage] - lxml names its class so


def parse_xml(content: bytes, *, recover: bool = False) -> Element | None:
    """The root element; None if the content is no XML (with ``recover``: if nothing can be made of it).

    Raises MemoryError, which lxml reports as an error of syntax.
    """
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, remove_comments=True, remove_pis=True, recover=recover
    )
    return _parsed(content, parser)


def parse_html(markup: str) -> Element | None:
    """The root element of HTML, as broken as it may be; None if there is nothing in it. Raises MemoryError."""
    # As bytes with the encoding said: a declaration inside could otherwise contradict it. Depth is no danger: trees
    # are walked without recursion, and libxml2 frees them so.
    parser = etree.HTMLParser(encoding="utf-8", no_network=True, remove_comments=True, remove_pis=True, huge_tree=True)
    return _parsed(markup.replace("\x00", "").encode("utf-8", "ignore"), parser)


def _parsed(content: bytes, parser: "etree.XMLParser | etree.HTMLParser") -> Element | None:
    try:
        return etree.fromstring(content, parser)
    except etree.XMLSyntaxError as error:
        if error.code == etree.ErrorTypes.ERR_NO_MEMORY:
            raise MemoryError from error
        return None


def local_name(element: Element) -> str:
    """The element's name without its namespace."""
    return etree.QName(element).localname


def attribute(element: Element, name: str) -> str:
    """An attribute whatever its namespace (transitional, strict or none); empty if there is none."""
    return next((str(text) for key, text in element.attrib.items() if etree.QName(key).localname == name), "")
