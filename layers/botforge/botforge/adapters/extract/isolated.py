"""Reading a hostile document must not cost more than the document: a process of its own, with limits.

A document can make a reader loop, swallow memory or crash. The reader therefore runs in a child with bounds on
memory, CPU and time, and whatever happens to it is an outcome. (No ``multiprocessing``: Lambda has no ``/dev/shm``.)
"""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from typing import Any

from botforge.domain.chunk import Block, ExtractedText
from botforge.domain.errors import DocumentFailed, DocumentRejected
from botforge.domain.reasons import Reason

_MODULE = "botforge.adapters.extract.child"
_KEPT = ("PATH", "PYTHONPATH", "LD_LIBRARY_PATH", "LANG", "LC_ALL")  # no credentials for a parser of hostile files


@dataclass(frozen=True, slots=True)
class IsolatedExtractor:
    """``timeout_s``: wall clock; ``cpu_s``: processor time; ``memory_bytes``: address space of the child."""

    timeout_s: float = 120
    cpu_s: int = 90
    memory_bytes: int = 1_536 * 1024 * 1024

    def extract(self, body: bytes, *, filename: str, content_type: str) -> ExtractedText:
        limits = [str(self.memory_bytes), str(self.cpu_s)]
        # -P: the folder that Lambda starts in holds nothing that a child should import by chance.
        command = [sys.executable, "-P", "-m", _MODULE, *limits, filename, content_type]
        try:
            child = subprocess.run(  # noqa: S603 - our own module; the file name is an argument, not a shell's word
                command, input=body, capture_output=True, timeout=self.timeout_s, env=_environment(), check=False
            )
        except subprocess.TimeoutExpired as error:
            raise DocumentFailed(Reason.TOO_COMPLEX, f"Reading it took more than {self.timeout_s:g} s.") from error
        if child.returncode < 0 or b"MemoryError" in child.stderr[-2_000:]:
            raise DocumentFailed(Reason.TOO_COMPLEX, "Reading it took more memory or time than one document may have.")
        if child.returncode != 0:
            raise DocumentFailed(Reason.CORRUPT, "It could not be read: it is damaged, or not what its name says.")
        return _result(json.loads(child.stdout))


def _environment() -> dict[str, str]:
    kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
    # Lambda puts the layers on sys.path without naming them in the environment.
    return {**kept, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path), "PYTHONDONTWRITEBYTECODE": "1"}


def _result(reply: dict[str, Any]) -> ExtractedText:
    if "reason" in reply:
        kind = DocumentRejected if reply["rejected"] else DocumentFailed
        raise kind(Reason(reply["reason"]), reply["message"])
    blocks = tuple(Block(block["text"], tuple(block["headings"]), block["page"]) for block in reply["blocks"])
    return ExtractedText(reply["title"], blocks, tuple(reply["notes"]))
