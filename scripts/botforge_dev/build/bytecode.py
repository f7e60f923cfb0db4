"""Compiling what is shipped: a function cannot write bytecode itself, its folders are read-only."""

import sys
from pathlib import Path

from botforge_dev.build import toolchain
from botforge_dev.build.interpreters import runtime_python
from botforge_dev.build.layout import RUNTIME


def compile_tree(folder: Path, *, seen_as: str) -> bool:
    """Write bytecode beside every module below ``folder``, which will lie at ``seen_as`` (/opt/python, /var/task).

    False, and a warning, when no Python of the runtime's version can be had: the artefact works, and starts slower.
    """
    python = runtime_python()
    if python is None:
        print(
            f"WARNING: no Python {RUNTIME} on this machine, so NO BYTECODE is shipped in {folder}.\n"
            f"         Functions will work, and start two to three times slower.\n"
            f"         Install Python {RUNTIME} and build again.",
            file=sys.stderr,
            flush=True,
        )
        return False
    # unchecked-hash: the bytecode holds no date, and nothing is compared with the source when it is loaded (PEP 552).
    toolchain.run(
        (python, "-m", "compileall", "-q", "--invalidation-mode", "unchecked-hash"),
        ("-s", str(folder), "-p", seen_as, str(folder)),
    )
    return True
