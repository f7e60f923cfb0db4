"""XML without anything from outside: no entities, no DTD, no network, and libxml2's own bounds on depth and size."""

from typing import TypeAlias

from lxml import etree

Element: TypeAlias = etree._Element  # noqa: SLF001 # pyright: ignore[reportPrivateUsage] - lxml names its class so


def parse_xml(content: bytes, *, recover: bool = False) -> Element | None:
    """The root element; None if the content is no XML (with ``recover``: if nothing can be made of it)."""
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, remove_comments=True, remove_pis=True, recover=recover
    )
    try:
        return etree.fromstring(content, parser)
    except etree.XMLSyntaxError:
        return None


def local_name(element: Element) -> str:
    """The element's name without its namespace."""
    return etree.QName(element).localname


def attribute(element: Element, name: str) -> str:
    """An attribute whatever its namespace (transitional, strict or none); empty if there is none."""
    return next((str(text) for key, text in element.attrib.items() if etree.QName(key).localname == name), "")
