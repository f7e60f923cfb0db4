"""PDFium's C functions that we call; see fpdf_annot.h, fpdf_formfill.h, fpdf_text.h and fpdfview.h."""

from ctypes import Array, c_char, c_ulong, c_ushort
from typing import TypeAlias

from pypdfium2 import PdfDocument, PdfFormEnv, PdfPage, PdfTextPage

class FPDF_ANNOTATION: ...

_Wide: TypeAlias = Array[c_ushort] | None
_Narrow: TypeAlias = Array[c_char] | None

FPDF_ERR_PASSWORD: int
FPDF_ERR_SECURITY: int
FPDF_PAGEOBJ_IMAGE: int
FPDF_PAGEOBJ_PATH: int
FPDF_PAGEOBJ_SHADING: int
FORMTYPE_NONE: int
FORMTYPE_XFA_FULL: int
FORMTYPE_XFA_FOREGROUND: int
FPDF_FORMFIELD_TEXTFIELD: int
FPDF_FORMFIELD_COMBOBOX: int
FPDF_FORMFIELD_LISTBOX: int
FPDF_FORMFIELD_CHECKBOX: int
FPDF_FORMFIELD_RADIOBUTTON: int
FPDF_ANNOT_TEXT: int
FPDF_ANNOT_FREETEXT: int
FPDF_ANNOT_HIGHLIGHT: int
FPDF_ANNOT_UNDERLINE: int
FPDF_ANNOT_STRIKEOUT: int
FPDF_ANNOT_STAMP: int
FPDF_ANNOT_WIDGET: int

def FPDFPage_GetAnnotCount(page: PdfPage) -> int: ...
def FPDFPage_GetAnnot(page: PdfPage, index: int) -> FPDF_ANNOTATION | None: ...
def FPDFPage_CloseAnnot(annotation: FPDF_ANNOTATION) -> None: ...
def FPDFAnnot_GetSubtype(annotation: FPDF_ANNOTATION) -> int: ...
def FPDFAnnot_GetStringValue(annotation: FPDF_ANNOTATION, key: bytes, buffer: _Wide, length: int) -> int: ...
def FPDFAnnot_GetFormFieldType(form: PdfFormEnv, annotation: FPDF_ANNOTATION) -> int: ...
def FPDFAnnot_GetFormFieldName(form: PdfFormEnv, annotation: FPDF_ANNOTATION, buffer: _Wide, length: int) -> int: ...
def FPDFAnnot_GetFormFieldAlternateName(
    form: PdfFormEnv, annotation: FPDF_ANNOTATION, buffer: _Wide, length: int
) -> int: ...
def FPDFAnnot_GetFormFieldValue(form: PdfFormEnv, annotation: FPDF_ANNOTATION, buffer: _Wide, length: int) -> int: ...
def FPDF_GetXFAPacketCount(document: PdfDocument) -> int: ...
def FPDF_GetXFAPacketName(document: PdfDocument, index: int, buffer: _Narrow, length: int) -> int: ...
def FPDF_GetXFAPacketContent(
    document: PdfDocument, index: int, buffer: _Narrow, length: int, written: c_ulong
) -> int: ...

class FS_MATRIX:
    c: float
    d: float

def FPDFText_GetCharIndexFromTextIndex(textpage: PdfTextPage, index: int) -> int: ...
def FPDFText_GetUnicode(textpage: PdfTextPage, index: int) -> int: ...
def FPDFText_GetMatrix(textpage: PdfTextPage, index: int, matrix: FS_MATRIX) -> int: ...
def FPDFText_GetFontSize(textpage: PdfTextPage, index: int) -> float: ...
