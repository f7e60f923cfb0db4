"""Make the project's environment, `.venv`, or bring it up to date with the lock: any Python ≥ 3.11 can run this."""

import hashlib
import sys

from botforge_dev.build import toolchain
from botforge_dev.build.interpreters import runtime_python
from botforge_dev.build.layout import ROOT

_STAMP = ROOT / ".venv" / ".locked"


def main() -> int:
    python = ROOT / ".venv" / "bin" / "python"
    locked = hashlib.sha256((ROOT / "uv.lock").read_bytes() + (ROOT / "pyproject.toml").read_bytes()).hexdigest()
    if python.exists() and _STAMP.exists() and _STAMP.read_text() == locked:
        return 0
    print("Setting up .venv (once; a minute or so) ...", file=sys.stderr, flush=True)
    try:
        interpreter = str(python) if python.exists() else runtime_python() or sys.executable
        toolchain.run([toolchain.uv(), "sync", "--locked", "-p", interpreter])
    except toolchain.BuildFailed as error:
        print(f"setup: {error}", file=sys.stderr)
        return 1
    _STAMP.write_text(locked)
    return 0


if __name__ == "__main__":
    sys.exit(main())
