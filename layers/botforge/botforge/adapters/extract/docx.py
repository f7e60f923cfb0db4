"""DOCX by mammoth, which turns Word's styles into HTML's elements; tracked deletions stay out, footnotes come along."""

import io
import zipfile

import mammoth

from botforge.adapters.extract.html import extract_text
from botforge.adapters.extract.limits import MAX_INFLATED_BYTES, too_complex
from botforge.domain.chunk import ExtractedText
from botforge.domain.errors import DocumentFailed
from botforge.domain.reasons import Reason

_OLE = bytes.fromhex("d0cf11e0a1b11ae1")  # Compound File Binary: what Word wraps an encrypted document in


def extract(body: bytes) -> ExtractedText:
    if body.startswith(_OLE):
        raise DocumentFailed(Reason.ENCRYPTED, "It is encrypted, or in Word's old binary format.")
    try:
        with zipfile.ZipFile(io.BytesIO(body)) as archive:
            # Declared sizes are checked before anything is inflated; zipfile holds members to them.
            if sum(member.file_size for member in archive.infolist()) > MAX_INFLATED_BYTES:
                raise too_complex("It inflates to more than a hundred megabytes.")
        converted = mammoth.convert_to_html(io.BytesIO(body), convert_image=mammoth.images.img_element(_no_image))
    except (zipfile.BadZipFile, KeyError, ValueError, EOFError, OSError) as error:
        raise DocumentFailed(Reason.CORRUPT, "It is not a readable DOCX file.") from error
    return extract_text(converted.value)


def _no_image(_image: object) -> dict[str, str]:
    return {"src": ""}
