"""The process that reads one document: limits first, then the body from standard input, the result to standard output.

Run by ``isolated``: ``python -m botforge.adapters.extract.child MEMORY_BYTES CPU_SECONDS FILENAME CONTENT_TYPE``.
"""

import json
import resource
import sys
from dataclasses import asdict
from typing import Any

from botforge.adapters.extract import by_format
from botforge.domain.errors import DocumentError, DocumentRejected


def main(memory_bytes: int, cpu_seconds: int, filename: str, content_type: str) -> dict[str, Any]:
    resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))
    resource.setrlimit(resource.RLIMIT_CPU, (cpu_seconds, cpu_seconds + 1))
    try:
        extracted = by_format.extract(sys.stdin.buffer.read(), filename=filename, content_type=content_type)
    except DocumentError as error:
        rejected = isinstance(error, DocumentRejected)
        return {"reason": error.reason.value, "message": error.message, "rejected": rejected}
    return asdict(extracted)


if __name__ == "__main__":
    result = main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4])
    sys.stdout.write(json.dumps(result))
