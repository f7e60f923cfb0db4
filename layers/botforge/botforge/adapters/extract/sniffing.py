"""What bytes are, by how they begin, beside what their name says."""

import re
import zipfile
import zlib
from io import BytesIO

from botforge.adapters.extract.charset import unmarked_utf
from botforge.domain.formats import Format

_PDF_HEADER_WITHIN = 1024  # bytes: readers accept leading rubbish (ISO 32000-1, annex H, note 13)
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ZIP = (b"PK\x03\x04", b"PK\x05\x06")
_HTML = re.compile(rb"(?is)\A\s*(?:<!--.*?-->\s*|<\?xml[^>]*>\s*)*<(?:!doctype\s+html|html|head|body|frameset)\b")
_BINARY = (
    *(b"\x89PNG\r\n", b"\xff\xd8\xff", b"GIF8", b"II*\x00", b"MM\x00*", b"\x7fELF", b"MZ\x90", b"\x1f\x8b\x08"),
    *(b"BZh", b"\xfd7zXZ\x00", b"7z\xbc\xaf\x27\x1c", b"Rar!\x1a\x07", b"SQLite format 3\x00", b"OggS", b"fLaC"),
    *(b"ID3", b"{\\rtf", b"%!PS", b"wOFF", b"wOF2", b"\x00\x01\x00\x00\x00", b"\xca\xfe\xba\xbe", b"RIFF"),
)
_UTF_BOMS = (b"\xff\xfe", b"\xfe\xff", b"\x00\x00\xfe\xff")
_CONTROLS = frozenset(range(32)) - frozenset(b"\t\n\r\x0b\x0c\x1b\x1a\x1c\x1d\x1e\x1f\x08")
_SAMPLE = 8192
_CONTENT_TYPES = 64 * 1024  # bytes of that part that are looked at


def looks_like(body: bytes) -> Format | None:
    """The format that the bytes show of themselves: PDF, DOCX or HTML; None for text and for everything else."""
    if b"%PDF-" in body[:_PDF_HEADER_WITHIN]:
        return Format.PDF
    if is_zip(body):
        return Format.DOCX if _is_docx(body) else None
    return Format.HTML if _HTML.match(_narrow(body[:_SAMPLE])) else None


def is_zip(body: bytes) -> bool:
    return body.startswith(_ZIP)


def is_ole(body: bytes) -> bool:
    """A compound file: Office 97-2003, or a password-protected Office document of any age."""
    return body.startswith(_OLE)


def is_encrypted_office(body: bytes) -> bool:
    """A compound file whose directory names an encrypted package ([MS-OFFCRYPTO], section 2.3)."""
    return is_ole(body) and "EncryptedPackage".encode("utf-16-le") in body


def is_binary(body: bytes) -> bool:
    """Whether the bytes are no text in any encoding."""
    if body.startswith(_UTF_BOMS):
        return False
    if body.startswith(_BINARY) or is_zip(body) or is_ole(body):
        return True
    sample = body[:_SAMPLE]
    return sum(byte in _CONTROLS for byte in sample) * 20 > len(sample) and unmarked_utf(body) is None


def _is_docx(body: bytes) -> bool:
    """Whether the archive holds a Word document; a damaged one counts by the names that can be seen in it."""
    try:
        with zipfile.ZipFile(BytesIO(body)) as archive:
            if any(name.startswith("word/") for name in archive.namelist()):
                return True
            with archive.open("[Content_Types].xml") as types:
                return b"wordprocessingml.document.main" in types.read(_CONTENT_TYPES)
    except KeyError:
        return False
    except (zipfile.BadZipFile, zlib.error, EOFError, ValueError, NotImplementedError, OSError, RuntimeError):
        return b"word/document" in body


def _narrow(sample: bytes) -> bytes:
    """UTF-16 and UTF-32 read as if they were ASCII; anything else unchanged."""
    if sample.startswith(_UTF_BOMS) or unmarked_utf(sample):
        return sample.replace(b"\x00", b"").lstrip(b"\xff\xfe")
    return sample.removeprefix(b"\xef\xbb\xbf")
