"""Leaving out what no function needs at run time.

Each entry has been tried: `tests/e2e/test_runtime.py` runs every handler against what is left. Licence texts stay.
"""

import shutil
from collections.abc import Iterable
from pathlib import Path

_FOLDERS = ("tests", "__pycache__", "include", "sboms")
_FILES = ("*.pyi", "*.pyx", "*.pxd", "*.c", "*.h", "*.lib", "RECORD", "INSTALLER", "REQUESTED", "direct_url.json")

# Paths relative to the folder that packages are installed into.
_UNUSED = (
    "aws_lambda_powertools/event_handler",  # FastAPI routes; this carries a Swagger UI
    "aws_lambda_powertools/utilities/auth_alpha",
    "aws_lambda_powertools/utilities/circuit_breaker",
    "aws_lambda_powertools/utilities/data_classes",
    "aws_lambda_powertools/utilities/data_masking",
    "aws_lambda_powertools/utilities/feature_flags",
    "aws_lambda_powertools/utilities/idempotency",
    "aws_lambda_powertools/utilities/kafka",
    "aws_lambda_powertools/utilities/parameters",
    "aws_lambda_powertools/utilities/parser",
    "aws_lambda_powertools/utilities/streaming",
    "bin",  # console scripts
    # The MCP SDK's server and what only that needs: adapters/tools/mcp_client_half.py loads the client alone.
    "_cffi_backend*.so",
    "cffi",
    "click",
    "cryptography",
    "jwt",
    "mcp/cli",
    "mcp/server",
    "pycparser",
    "sse_starlette",
    "uvicorn",
    "numpy/f2py",  # a Fortran compiler's front end
    "numpy/_core/_multiarray_tests*.so",
    "numpy/_core/_operand_flag_tests*.so",
    "numpy/_core/_rational_tests*.so",
    "numpy/_core/_struct_ufunc_tests*.so",
    "numpy/_core/_umath_tests*.so",
    "numpy/_core/lib",
    "numpy/random/lib",
    "onnxruntime/backend",
    "onnxruntime/capi/libonnxruntime.so*",  # the C library: the Python module is linked with its own copy
    "onnxruntime/datasets",
    "onnxruntime/quantization",
    "onnxruntime/tools",
    "onnxruntime/transformers",
    # The parts of the OpenAI API that we do not call; the client imports each when it is first touched.
    "openai/lib/beta",
    "openai/resources/admin",
    "openai/resources/beta",
    "openai/resources/live",
    "openai/resources/realtime",
    "openai/types/admin",
    "openai/types/beta",
    "openai/types/live",
    "openai/types/realtime",
    "pinecone/_grpc*.so",  # the gRPC transport; we speak REST
    "tokenizers/tools",
)


def trim(packages: Path) -> None:
    """Remove from ``packages`` what is not needed at run time."""
    _remove(path for pattern in _UNUSED for path in packages.glob(pattern))
    _remove(path for name in _FOLDERS for path in packages.rglob(name) if path.is_dir())
    _remove(path for pattern in _FILES for path in packages.rglob(pattern))


def _remove(paths: Iterable[Path]) -> None:
    for path in list(paths):
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
