"""Office Open XML packages: a ZIP archive of parts that refer to each other (ECMA-376, part 2)."""

import posixpath
import zipfile
import zlib
from dataclasses import dataclass, field
from io import BytesIO
from urllib.parse import unquote

from botforge.adapters.extract.limits import Limits, too_complex
from botforge.adapters.extract.xml_tree import Element, parse_xml
from botforge.domain.errors import DocumentFailed
from botforge.domain.reasons import Reason

_DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, ValueError, OSError, UnicodeError)


@dataclass(slots=True)
class Package:
    """The parts by name, inflated on demand and never beyond ``limits.inflated_bytes`` together.

    Raises DocumentFailed: corrupt, encrypted or too_complex.
    """

    archive: zipfile.ZipFile
    limits: Limits
    notes: list[str] = field(default_factory=list[str])
    _inflated: int = 0

    @classmethod
    def open(cls, body: bytes, limits: Limits) -> "Package":
        try:
            archive = zipfile.ZipFile(BytesIO(body))
        except _DAMAGED as error:
            raise DocumentFailed(Reason.CORRUPT, "Its archive is damaged.") from error
        if len(archive.namelist()) > limits.archive_entries:
            raise too_complex(f"holds more than {limits.archive_entries} parts")
        return cls(archive, limits)

    def part(self, name: str) -> bytes | None:
        """A part's bytes; None if there is no such part. Sizes are counted as they inflate: the index can lie."""
        allowed = self.limits.inflated_bytes - self._inflated
        try:
            with self.archive.open(name.lstrip("/")) as stream:
                content = stream.read(allowed + 1)
        except KeyError:
            return None
        except RuntimeError as error:  # zipfile's word for a part that needs a password
            raise DocumentFailed(Reason.ENCRYPTED, "It is protected by a password.") from error
        except _DAMAGED as error:
            raise DocumentFailed(Reason.CORRUPT, f"Its part {name} is damaged.") from error
        self._inflated += len(content)
        if len(content) > allowed:
            raise too_complex(f"inflates to more than {self.limits.inflated_bytes} bytes")
        return content

    def xml(self, name: str) -> Element | None:
        """A part's root element, without entities or anything from outside; None if there is no such part."""
        content = self.part(name)
        if content is None:
            return None
        root = parse_xml(content)
        if root is None:
            root = parse_xml(content, recover=True)
            if root is None:
                raise DocumentFailed(Reason.CORRUPT, f"Its part {name} is no XML.")
            self.notes.append(f"The part {name} is damaged; what could be read of it was taken.")
        return root

    def relations(self, name: str) -> dict[str, tuple[str, str]]:
        """What a part refers to inside the package: id → (the type's last segment, the target part's name)."""
        folder, base = posixpath.split(name)
        root = self.xml(posixpath.join(folder, "_rels", f"{base}.rels"))
        found: dict[str, tuple[str, str]] = {}
        for relation in () if root is None else root.iter("{*}Relationship"):
            if relation.get("TargetMode") != "External":
                target = posixpath.normpath(posixpath.join("/", folder, unquote(relation.get("Target", ""))))
                kind = relation.get("Type", "").rsplit("/", 1)[-1]
                found[relation.get("Id", "")] = (kind, target.lstrip("/"))
        return found
