"""Make the project's environment, `.venv`, unless it is there: any Python ≥ 3.11 can run this."""

import sys

from botforge_dev.build import toolchain
from botforge_dev.build.interpreters import runtime_python
from botforge_dev.build.layout import ROOT


def main() -> int:
    if (ROOT / ".venv" / "bin" / "python").exists():
        return 0
    print("Setting up .venv ...", flush=True)
    try:
        toolchain.run([toolchain.uv(), "sync", "-q", "--locked", "-p", runtime_python() or sys.executable])
    except toolchain.BuildFailed as error:
        print(f"build: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
