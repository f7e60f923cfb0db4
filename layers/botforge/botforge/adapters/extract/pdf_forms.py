"""What a PDF says outside its pages' content: form fields, annotations, XFA forms."""

import ctypes
from collections.abc import Callable, Iterator
from functools import partial

import pypdfium2 as pdfium
import pypdfium2.raw as pdfium_c

from botforge.adapters.extract.xml_tree import local_name, parse_xml

_MAX_XFA_BYTES = 16 * 1024 * 1024
_FILLED = (
    pdfium_c.FPDF_FORMFIELD_TEXTFIELD,
    pdfium_c.FPDF_FORMFIELD_COMBOBOX,
    pdfium_c.FPDF_FORMFIELD_LISTBOX,
    pdfium_c.FPDF_FORMFIELD_CHECKBOX,
    pdfium_c.FPDF_FORMFIELD_RADIOBUTTON,
)
_REMARKS = (
    pdfium_c.FPDF_ANNOT_TEXT,
    pdfium_c.FPDF_ANNOT_FREETEXT,
    pdfium_c.FPDF_ANNOT_HIGHLIGHT,
    pdfium_c.FPDF_ANNOT_UNDERLINE,
    pdfium_c.FPDF_ANNOT_STRIKEOUT,
    pdfium_c.FPDF_ANNOT_STAMP,
)


def annotation_lines(document: pdfium.PdfDocument, page: pdfium.PdfPage) -> Iterator[str]:
    """``name: value`` of each form field that is filled in, and the text of each remark."""
    seen: set[str] = set()
    for index in range(pdfium_c.FPDFPage_GetAnnotCount(page)):
        annotation = pdfium_c.FPDFPage_GetAnnot(page, index)
        if not annotation:
            continue
        try:
            line = _line(document, annotation)
        finally:
            pdfium_c.FPDFPage_CloseAnnot(annotation)
        if line and line not in seen:  # the buttons of one group repeat its value
            seen.add(line)
            yield line


def _line(document: pdfium.PdfDocument, annotation: pdfium_c.FPDF_ANNOTATION) -> str:
    subtype = pdfium_c.FPDFAnnot_GetSubtype(annotation)
    if subtype in _REMARKS:
        return _string(partial(pdfium_c.FPDFAnnot_GetStringValue, annotation, b"Contents"))
    form = document.formenv
    if subtype != pdfium_c.FPDF_ANNOT_WIDGET or form is None:
        return ""
    if pdfium_c.FPDFAnnot_GetFormFieldType(form, annotation) not in _FILLED:
        return ""
    value = _string(partial(pdfium_c.FPDFAnnot_GetFormFieldValue, form, annotation))
    if value in {"", "Off"}:
        return ""
    name = _string(partial(pdfium_c.FPDFAnnot_GetFormFieldAlternateName, form, annotation))
    name = name or _string(partial(pdfium_c.FPDFAnnot_GetFormFieldName, form, annotation))
    return f"{name}: {value}" if name else value


def _string(read: Callable[[ctypes.Array[ctypes.c_ushort] | None, int], int]) -> str:
    """A string by PDFium's convention: asked for its length in bytes first; UTF-16LE with a final NUL."""
    length = read(None, 0)
    if length <= 2:
        return ""
    buffer = (ctypes.c_ushort * (length // 2))()
    read(buffer, length)
    return bytes(buffer)[: length - 2].decode("utf-16-le", "ignore").strip()


def xfa_texts(document: pdfium.PdfDocument) -> Iterator[str]:
    """The captions and values of an XFA form, whose pages only ask for another viewer."""
    if document.get_formtype() not in (pdfium_c.FORMTYPE_XFA_FULL, pdfium_c.FORMTYPE_XFA_FOREGROUND):
        return
    for index in range(pdfium_c.FPDF_GetXFAPacketCount(document)):
        read = _XFA_LINES.get(_packet_name(document, index))
        text = "\n".join(read(_packet(document, index))) if read else ""
        if text:
            yield text


def _packet_name(document: pdfium.PdfDocument, index: int) -> str:
    buffer = ctypes.create_string_buffer(64)
    length = pdfium_c.FPDF_GetXFAPacketName(document, index, buffer, 64)
    return buffer.raw[: length - 1].decode("ascii", "replace") if 0 < length <= 64 else ""


def _packet(document: pdfium.PdfDocument, index: int) -> bytes:
    size = ctypes.c_ulong()
    pdfium_c.FPDF_GetXFAPacketContent(document, index, None, 0, size)
    if size.value > _MAX_XFA_BYTES:
        return b""
    buffer = ctypes.create_string_buffer(size.value)
    pdfium_c.FPDF_GetXFAPacketContent(document, index, buffer, size.value, size)
    return buffer.raw


def _captions(template: bytes) -> Iterator[str]:
    root = parse_xml(template, recover=True)
    for element in () if root is None else root.iter("{*}text", "{*}exData", "{*}toolTip"):
        text = " ".join("".join(str(part) for part in element.itertext()).split())
        if text:
            yield text


def _values(datasets: bytes) -> Iterator[str]:
    root = parse_xml(datasets, recover=True)
    for element in () if root is None else root.iter("{*}*"):
        text = (element.text or "").strip()
        if text and not len(element):
            yield f"{local_name(element)}: {text}"


_XFA_LINES = {"template": _captions, "datasets": _values}
