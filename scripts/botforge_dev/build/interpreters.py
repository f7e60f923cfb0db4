"""Finding the runtime's own Python: bytecode is only good for the minor version that wrote it."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

from botforge_dev.build import toolchain
from botforge_dev.build.layout import ROOT, RUNTIME

_PROBE = "import sys; print('%d.%d.%s' % (*sys.version_info[:2], sys.version_info.releaselevel))"
_MANAGED = ROOT / ".build" / "python"


def runtime_python() -> str | None:
    """The path of a released Python of the runtime's version; None if none can be had.

    Looked for on PATH, among pyenv's and uv's; at last uv is asked to install one.
    """
    for candidate in _candidates():
        if _fits(candidate):
            return candidate
    print(f"No Python {RUNTIME} here; asking uv for one ...", file=sys.stderr, flush=True)
    env = {**os.environ, "UV_PYTHON_INSTALL_DIR": str(_MANAGED)}
    try:
        toolchain.run([toolchain.uv(), "python", "install", "-q", "--no-bin", RUNTIME], env=env)
    except toolchain.BuildFailed:
        return None
    return next((str(path) for path in _MANAGED.glob(f"*/bin/python{RUNTIME}") if _fits(str(path))), None)


def _candidates() -> Iterator[str]:
    yield sys.executable
    yield f"python{RUNTIME}"
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    yield from (str(path) for path in sorted(pyenv.glob(f"versions/{RUNTIME}.*/bin/python{RUNTIME}")))
    yield from (str(path) for path in _MANAGED.glob(f"*/bin/python{RUNTIME}"))
    found = toolchain.output([toolchain.uv(), "python", "find", "--no-python-downloads", RUNTIME])
    if found:
        yield found


def _fits(python: str) -> bool:
    return toolchain.output([python, "-c", _PROBE]) == f"{RUNTIME}.final"
