"""``./scripts/train_router``: make the router's weights from the committed training data, and put them in the package.

With ``--check`` nothing is written: the weights that come out must decide as the committed ones do, within rounding.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from botforge_dev.build import toolchain
from botforge_dev.build.layout import ROOT
from botforge_dev.routing.comparing import compare

PACKAGE = ROOT / "layers" / "botforge" / "botforge" / "adapters" / "routing"
_HOME = ROOT / ".build" / "routing"
_REQUIREMENTS = Path(__file__).with_name("requirements.txt")
_FILES = ("weights.npz", "weights.json")


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="train_router", description=__doc__)
    parser.add_argument("--check", action="store_true", help="compare with what is committed, and write nothing")
    options = parser.parse_args(arguments)
    try:
        python = _environment()
    except toolchain.BuildFailed as error:
        print(f"train_router: {error}", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory() as folder:
        command = [str(python), "-m", "botforge_dev.routing.training.train", folder]
        status = subprocess.run(command, cwd=ROOT, env=_variables(), check=False).returncode  # noqa: S603
        if status == 0 and options.check:
            status = _checked(Path(folder))
        elif status == 0:
            for name in _FILES:
                shutil.copyfile(Path(folder) / name, PACKAGE / name)
    print("train_router: " + ("done" if status == 0 else "failed"), file=sys.stderr)
    return status


def _checked(made: Path) -> int:
    differences = compare(made, PACKAGE)
    print(
        "\n".join(differences) or "train_router: the committed weights come out of the committed data", file=sys.stderr
    )
    return 1 if differences else 0


def _environment() -> Path:
    """Python with scikit-learn and LightGBM, made first if it is not there. Raises BuildFailed."""
    stamp, python = _HOME / ".requirements", _HOME / "bin" / "python"
    if not stamp.is_file() or stamp.read_text() != _REQUIREMENTS.read_text():
        toolchain.run([toolchain.uv(), "venv", "--quiet", "--clear", "--python", sys.executable, str(_HOME)])
        toolchain.run([toolchain.uv(), "pip", "install", "--quiet", "-p", str(python), "-r", str(_REQUIREMENTS)])
        stamp.write_text(_REQUIREMENTS.read_text())
    return python


def _variables() -> dict[str, str]:
    """One thread everywhere: sums in another order would give other weights."""
    paths = os.pathsep.join([str(ROOT / "layers" / "botforge"), str(ROOT / "scripts")])
    single = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    return {**os.environ, "PYTHONPATH": paths, **single}


if __name__ == "__main__":
    sys.exit(main())
