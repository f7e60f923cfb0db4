"""The process that ``isolated`` starts: ``python -m botforge.adapters.extract.child MEMORY CPU NAME TYPE``.

The document comes in by standard input; the result goes out by standard output as one JSON object. Exit status 0
means that there is a result, be it a refusal; anything else is not the document's fault or a limit that was hit.
"""

import json
import signal
import sys
from contextlib import suppress
from typing import Any

from botforge.adapters.extract.by_format import extract
from botforge.adapters.extract.limits import too_complex
from botforge.domain.errors import DocumentError, DocumentFailed, DocumentRejected
from botforge.domain.reasons import Reason

_MAX_OUTPUT_BYTES = 128 * 1024 * 1024


def main(arguments: list[str]) -> None:
    memory, cpu, filename, content_type = arguments
    set_limits(memory_bytes=int(memory), cpu_seconds=int(cpu))
    try:
        answer = json.dumps(result(sys.stdin.buffer.read(), filename, content_type), ensure_ascii=False)
    except MemoryError:
        answer = json.dumps(_refusal(too_complex("needs more memory than a document may take")))
    sys.stdout.buffer.write(answer.encode("utf-8"))


def result(body: bytes, filename: str, content_type: str) -> dict[str, Any]:
    try:
        extracted = extract(body, filename=filename, content_type=content_type)
    except DocumentError as error:
        return _refusal(error)
    except (ImportError, MemoryError):
        raise
    except Exception as error:  # noqa: BLE001 - a reader stumbled over the document: the document ends, not the worker
        print(type(error).__name__, file=sys.stderr)  # noqa: T201
        return _refusal(DocumentFailed(Reason.CORRUPT, "It is damaged: its reader gave up on it."))
    blocks = [(block.text, block.headings, block.page, block.header) for block in extracted.blocks]
    return {"title": extracted.title, "blocks": blocks, "notes": extracted.notes}


def set_limits(*, memory_bytes: int, cpu_seconds: int) -> None:
    """Bound this process for good, as far as the platform can: macOS has no limit on address space."""
    try:
        import resource
    except ImportError:  # not on Windows
        return
    wanted = {
        resource.RLIMIT_AS: (memory_bytes, memory_bytes),
        resource.RLIMIT_CPU: (cpu_seconds, cpu_seconds + 1),  # the soft one says SIGXCPU, the hard one kills
        resource.RLIMIT_FSIZE: (_MAX_OUTPUT_BYTES, _MAX_OUTPUT_BYTES),
        resource.RLIMIT_CORE: (0, 0),
    }
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)  # Python would go on with an OSError
    for limit, bounds in wanted.items():
        with suppress(ValueError, OSError):
            resource.setrlimit(limit, bounds)


def _refusal(error: DocumentError) -> dict[str, Any]:
    return {
        "rejected": isinstance(error, DocumentRejected),
        "reason": error.reason.value,
        "message": error.message,
    }


if __name__ == "__main__":
    main(sys.argv[1:])
