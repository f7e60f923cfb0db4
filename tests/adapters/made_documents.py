"""Small documents made by code: honest ones, odd ones and hostile ones."""

import hashlib
import io
import struct
import zipfile
from collections.abc import Mapping, Sequence

W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
W_STRICT = "http://purl.oclc.org/ooxml/wordprocessingml/main"
_R = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006/relationships"
_PASSWORD_PADDING = bytes.fromhex("28bf4e5e4e758a4164004e56fffa01082e2e00b6d0683e802f0ca9fe6453697a")


def docx(body: str, parts: Mapping[str, str | bytes] | None = None, *, namespace: str = W, kinds: str = "") -> bytes:
    """A Word document: ``body`` is what stands in w:body, ``parts`` are further parts of word/ by their names.

    A part is related to the document under its own name as the id, as what its name says (styles.xml: styles).
    """
    parts = parts or {}
    relations = "".join(
        f'<Relationship Id="{name}" Type="{_R}/{kinds or name.split(".")[0].rstrip("0123456789")}" Target="{name}"/>'
        for name in parts
    )
    document = (
        f'<w:document xmlns:w="{namespace}" xmlns:r="{_R}"'
        ' xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"'
        ' xmlns:wps="http://schemas.microsoft.com/office/word/2010/wordprocessingShape"'
        f' xmlns:v="urn:schemas-microsoft-com:vml"><w:body>{body}</w:body></w:document>'
    )
    return archive(
        {
            "_rels/.rels": _relations(f'<Relationship Id="d" Type="{_R}/officeDocument" Target="word/document.xml"/>'),
            "word/document.xml": document,
            "word/_rels/document.xml.rels": _relations(relations),
            **{f"word/{name}": content for name, content in parts.items()},
        }
    )


def paragraph(text: str, *, style: str = "", properties: str = "") -> str:
    named = f'<w:pStyle w:val="{style}"/>' if style else ""
    return f'<w:p><w:pPr>{named}{properties}</w:pPr><w:r><w:t xml:space="preserve">{text}</w:t></w:r></w:p>'


def table(*rows: Sequence[str]) -> str:
    cells = ("".join(f"<w:tc>{paragraph(cell)}</w:tc>" for cell in row) for row in rows)
    return f"<w:tbl>{''.join(f'<w:tr>{row}</w:tr>' for row in cells)}</w:tbl>"


def archive(parts: Mapping[str, str | bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in parts.items():
            file.writestr(name, content)
    return buffer.getvalue()


def pdf(
    *pages: str,
    catalog: str = "",
    page: str = "",
    more: Sequence[str] = (),
    title: str = "",
    password: str | None = None,
) -> bytes:
    """A PDF whose pages draw ``pages`` (content streams). Further objects, from number 100 on, are ``more``;
    ``catalog`` and ``page`` are further entries of those dictionaries. ``password`` encrypts (RC4 with 40 bits)."""
    numbers = [10 + 2 * index for index in range(len(pages))]
    objects: dict[int, str | bytes] = {
        1: f"<< /Type /Catalog /Pages 2 0 R {catalog} >>",
        2: f"<< /Type /Pages /Count {len(pages)} /Kids [{' '.join(f'{number} 0 R' for number in numbers)}] >>",
        3: "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        4: f"<< /Title ({title}) >>" if password is None else "<< >>",
        **{100 + index: text for index, text in enumerate(more)},
    }
    key = _Key(password) if password is not None else None
    for number, content in zip(numbers, pages, strict=True):
        objects[number] = (
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {number + 1} 0 R"
            f" /Resources << /Font << /F1 3 0 R >> >> {page} >>"
        )
        data = content.encode("latin-1")
        data = key.encrypt(number + 1, data) if key else data
        objects[number + 1] = b"<< /Length %d >>\nstream\n%s\nendstream" % (len(data), data)
    return _written(objects, key)


def lines(*texts: str, size: int = 12) -> str:
    """A content stream that writes lines below each other."""
    shown = " ".join(f"({text}) Tj T*" for text in texts)
    return f"BT /F1 {size} Tf {size + 2} TL 72 720 Td {shown} ET"


def _relations(relations: str) -> str:
    return f'<Relationships xmlns="{_PACKAGE}">{relations}</Relationships>'


def _written(objects: Mapping[int, str | bytes], key: "_Key | None") -> bytes:
    body = bytearray(b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n")
    offsets: dict[int, int] = {}
    for number, content in objects.items():
        offsets[number] = len(body)
        data = content if isinstance(content, bytes) else content.encode("latin-1")
        body += b"%d 0 obj\n%s\nendobj\n" % (number, data)
    start = len(body)
    body += b"xref\n0 1\n0000000000 65535 f \n"
    for number, offset in offsets.items():
        body += b"%d 1\n%010d 00000 n \n" % (number, offset)
    encrypted = key.entry if key else b""
    body += b"trailer\n<< /Size %d /Root 1 0 R /Info 4 0 R %s >>\n" % (max(offsets) + 1, encrypted)
    return bytes(body + b"startxref\n%d\n%%%%EOF\n" % start)


class _Key:
    """The standard security handler, revision 2 (ISO 32000-1, 7.6.3)."""

    _PERMISSIONS = -4
    _ID = b"0123456789abcdef"

    def __init__(self, password: str) -> None:
        user = (password.encode("latin-1") + _PASSWORD_PADDING)[:32]
        owner = _rc4(hashlib.md5(_PASSWORD_PADDING, usedforsecurity=False).digest()[:5], user)
        seed = user + owner + struct.pack("<i", self._PERMISSIONS) + self._ID
        self._key = hashlib.md5(seed, usedforsecurity=False).digest()[:5]
        check = _rc4(self._key, _PASSWORD_PADDING)
        self.entry = b"/ID [<%s> <%s>] /Encrypt << /Filter /Standard /V 1 /R 2 /Length 40 /P %d /O <%s> /U <%s> >>" % (
            self._ID.hex().encode(),
            self._ID.hex().encode(),
            self._PERMISSIONS,
            owner.hex().encode(),
            check.hex().encode(),
        )

    def encrypt(self, number: int, data: bytes) -> bytes:
        seed = self._key + struct.pack("<I", number)[:3] + b"\0\0"
        return _rc4(hashlib.md5(seed, usedforsecurity=False).digest()[:10], data)


def _rc4(key: bytes, data: bytes) -> bytes:
    state = list(range(256))
    other = 0
    for index in range(256):
        other = (other + state[index] + key[index % len(key)]) % 256
        state[index], state[other] = state[other], state[index]
    first = second = 0
    result = bytearray()
    for byte in data:
        first = (first + 1) % 256
        second = (second + state[first]) % 256
        state[first], state[second] = state[second], state[first]
        result.append(byte ^ state[(state[first] + state[second]) % 256])
    return bytes(result)
