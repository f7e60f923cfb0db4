"""An environment for each side, of one Python version, made on first use below ``.build/benchmarks``.

Ours is what is deployed: the lock's versions of what the layers ship, and a copy of the package and the functions;
both sides' bytecode is compiled beforehand, as it is in a deployment.
"""

import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from botforge_dev.build import toolchain
from botforge_dev.build.layout import ROOT
from botforge_dev.model.weights import MODEL_DIR, ensure_weights

HOME = ROOT / ".build" / "benchmarks"
_PROGRAMS = Path(__file__).parent
_REQUIREMENTS = _PROGRAMS / "opponents" / "requirements.txt"
_COMPILE = ("-m", "compileall", "-q", "-j", "1", "--invalidation-mode", "unchecked-hash")
_ONE_THREAD = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}


@dataclass(frozen=True, slots=True)
class Contestant:
    python: Path
    programs: Path
    model_dir: Path
    path: str  # PYTHONPATH

    def command(self, program: str, *arguments: str) -> list[str]:
        return [str(self.python), str(self.programs / program), *arguments]

    def environment(self, **more: str) -> dict[str, str]:
        """Nothing of the caller's that could change what is imported or how many threads run."""
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(HOME),
            "PYTHONPATH": self.path,
            "HF_HUB_OFFLINE": "1",
            "AWS_REGION": "us-east-1",
            "AWS_DEFAULT_REGION": "us-east-1",
            "AWS_ACCESS_KEY_ID": "none",
            "AWS_SECRET_ACCESS_KEY": "none",
            "EMBEDDING_MODEL_DIR": str(self.model_dir),
            **_ONE_THREAD,
            **more,
        }


def interpreter() -> str:
    """The Python of both sides: 3.11, the oldest supported, for which every opponent has wheels; else this one."""
    return shutil.which("python3.11") or sys.executable


def ours() -> Contestant:
    lock = (ROOT / "uv.lock").read_bytes()
    home = HOME / "ours"
    python = home / "bin" / "python"
    exported = HOME / "ours.txt"

    def install() -> None:
        groups = ("--no-default-groups", "--group", "embedding", "--group", "extraction")
        export = (toolchain.uv(), "export", "-q", "--frozen", "--no-emit-project", "--no-hashes")
        toolchain.run(export, groups, ("-o", str(exported)))
        everything = HOME / "lock.txt"
        toolchain.run(export, ("-o", str(everything)))
        pip = (toolchain.uv(), "pip", "install", "-q", "-p", str(python))
        toolchain.run(pip, ("-r", str(exported)))
        toolchain.run(pip, ("boto3", "-c", str(everything)))  # the Lambda runtime has it

    _environment(home, lock, install)
    app = HOME / "app"
    shutil.rmtree(app, ignore_errors=True)
    leave = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "layers" / "botforge" / "botforge", app / "botforge", ignore=leave)
    shutil.copytree(ROOT / "functions", app / "functions", ignore=leave)
    shutil.copy(_PROGRAMS / "peak_memory.py", app)
    toolchain.run((str(python), *_COMPILE, str(app)))
    ensure_weights()
    return Contestant(python, _PROGRAMS / "ours", MODEL_DIR, str(app))


def opponents() -> Contestant:
    home = HOME / "opponents"
    python = home / "bin" / "python"

    def install() -> None:
        # pip, not uv: only pip reads where this machine may keep a torch without CUDA (PIP_FIND_LINKS, pip.conf).
        toolchain.run((str(python), "-m", "ensurepip", "-U"))
        toolchain.run((str(python), "-m", "pip", "install", "-q", "-r", str(_REQUIREMENTS)))

    _environment(home, _REQUIREMENTS.read_bytes(), install)
    app = HOME / "opponents-app"
    shutil.rmtree(app, ignore_errors=True)
    shutil.copytree(_PROGRAMS / "opponents", app, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(_PROGRAMS / "peak_memory.py", app)
    toolchain.run((str(python), *_COMPILE, str(app)))
    model = next(home.glob("lib/python*/site-packages/**/modules.json")).parent
    return Contestant(python, app, model, str(app))


def _environment(home: Path, wanted: bytes, install: Callable[[], None]) -> None:
    stamp = home / ".made"
    made_of = hashlib.sha256(wanted + interpreter().encode()).hexdigest()
    if stamp.is_file() and stamp.read_text() == made_of:
        return
    print(f"Making {home} (once; minutes, torch is large) ...", flush=True)
    HOME.mkdir(parents=True, exist_ok=True)
    toolchain.run((toolchain.uv(), "venv", "-q", "--clear", "-p", interpreter(), str(home)))
    install()
    # Some packages bring files for other versions of Python: what does not compile is not imported either.
    packages = map(str, home.glob("lib/python*/site-packages"))
    subprocess.run((str(home / "bin" / "python"), *_COMPILE, *packages), check=False, capture_output=True)  # noqa: S603
    stamp.write_text(made_of)
