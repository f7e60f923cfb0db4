"""Extraction in a process of its own: what a hostile document can take down is that process, and no more.

The child gets the document as its standard input and bounds itself before it looks at it (address space, CPU time,
output, core dumps); this side holds the deadline. It inherits none of our environment but the paths that Python
itself needs, so no credentials either. Pipes would need threads and multiprocessing needs /dev/shm, which Lambda has
not: both directions are files.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from typing import Any, BinaryIO

from botforge.adapters.extract.by_format import promised_format
from botforge.adapters.extract.limits import too_complex
from botforge.domain.chunk import Block, ExtractedText
from botforge.domain.errors import DocumentFailed, DocumentRejected
from botforge.domain.reasons import Reason

_INHERITED = ("LD_LIBRARY_PATH", "PATH", "SYSTEMROOT", "TMPDIR")
_CRASHES = frozenset({signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE})


@dataclass(frozen=True, slots=True)
class IsolatedExtractor:
    """Extractor that starts a Python process for each document.

    ``deadline`` in seconds of wall-clock time. Raises, beside what Extractor says, RuntimeError if the process cannot
    do its work for a reason that is not the document's (a library is missing): that is to be tried again.
    """

    deadline: float = 120.0
    cpu_seconds: int = 90
    memory_bytes: int = 1024 * 1024 * 1024
    module: str = "botforge.adapters.extract.child"

    def extract(self, body: bytes, *, filename: str, content_type: str) -> ExtractedText:
        promised_format(filename, content_type)  # a name that we do not read costs no process
        with tempfile.TemporaryFile() as request, tempfile.TemporaryFile() as reply:
            request.write(body)
            request.seek(0)
            self._run(request, reply, filename, content_type)
            reply.seek(0)
            return _read(reply.read())

    def _run(self, request: BinaryIO, reply: BinaryIO, filename: str, content_type: str) -> None:
        command = [sys.executable, "-P", "-s", "-B", "-m", self.module, str(self.memory_bytes), str(self.cpu_seconds)]
        environment = {name: os.environ[name] for name in _INHERITED if name in os.environ}
        environment |= {"PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "PYTHONUTF8": "1"}
        arguments = [_argument(filename), _argument(content_type)]
        try:
            done = subprocess.run(  # noqa: S603 - our own interpreter and module; the names are arguments, not code
                [*command, *arguments],
                stdin=request,
                stdout=reply,
                stderr=subprocess.PIPE,
                env=environment,
                timeout=self.deadline,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise too_complex(f"takes longer than {self.deadline:g} seconds to read") from error
        if done.returncode < 0:
            raise _ended_by(-done.returncode)
        if done.returncode > 0:
            raise RuntimeError(f"the extraction process failed: {_last_error(done.stderr)}")


def _argument(text: str) -> str:
    return text.replace("\0", "").encode("utf-8", "replace").decode("utf-8")[:1024]


def _ended_by(number: int) -> DocumentFailed:
    if number in _CRASHES:
        return DocumentFailed(Reason.CORRUPT, "Reading it crashed the reader, which damaged documents do.")
    if number == signal.SIGXCPU:
        return too_complex("takes more computing time to read than a document may take")
    if number == signal.SIGXFSZ:
        return too_complex("yields more text than a document may hold")
    return too_complex("takes more memory to read than a document may take")


def _last_error(stderr: bytes) -> str:
    """The type of the exception that ended the process: its message can quote the document."""
    lines = stderr.decode("utf-8", "replace").strip().splitlines()
    return lines[-1].split(":", 1)[0][:100] if lines else "no message"


def _read(reply: bytes) -> ExtractedText:
    result: dict[str, Any] = json.loads(reply)
    if "reason" in result:
        kind = DocumentRejected if result["rejected"] else DocumentFailed
        raise kind(Reason(result["reason"]), result["message"])
    blocks = tuple(Block(text, tuple(headings), page, header) for text, headings, page, header in result["blocks"])
    return ExtractedText(result["title"], blocks, tuple(result["notes"]))
