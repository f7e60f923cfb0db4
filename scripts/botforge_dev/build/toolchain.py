"""The programs that a build needs beside Python: found where they are, installed into `.build` where they are not.

Nothing here imports more than the standard library: it runs on whatever Python a machine has.
"""

import os
import shutil
import ssl
import subprocess
import sys
import venv
from collections.abc import Sequence
from pathlib import Path

from botforge_dev.build.layout import ROOT

_TOOLS = ROOT / ".build"
_UV = "uv==0.13.9"
_SAM_REQUIREMENTS = Path(__file__).with_name("sam-requirements.txt")


class BuildFailed(Exception):
    """The build cannot go on; the message says what to do about it."""


def run(*arguments: Sequence[str], env: dict[str, str] | None = None) -> None:
    """Run a program in the checkout and let it print; several sequences make one command.

    Raises BuildFailed when it fails.
    """
    command = [word for words in arguments for word in words]
    env = {**_certificates(), **(os.environ if env is None else env)}
    result = subprocess.run(command, cwd=ROOT, env=env, check=False)  # noqa: S603
    if result.returncode != 0:
        raise BuildFailed(f"`{' '.join(command)}` failed with status {result.returncode}.")


def _certificates() -> dict[str, str]:
    """Have uv trust what this machine trusts, as pip does: some networks have an authority of their own.

    Where the machine knows none, uv goes on with those that it brings along.
    """
    known = ssl.create_default_context().cert_store_stats()["x509_ca"]
    return {"UV_SYSTEM_CERTS": "true"} if known else {}


def output(command: Sequence[str]) -> str | None:
    """What a program prints; None if it is not there or fails."""
    try:
        result = subprocess.run(  # noqa: S603
            command, cwd=ROOT, check=False, text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
    except OSError:
        return None
    return result.stdout.strip() if result.returncode == 0 else None


def uv() -> str:
    """The path of uv: beside this Python, on PATH, or installed by pip into `.build/tools`. Raises BuildFailed."""
    for folder in (Path(sys.executable).parent, _TOOLS / "tools" / "bin"):
        if (folder / "uv").is_file():
            return str(folder / "uv")
    found = shutil.which("uv")
    if found:
        return found
    print(f"Installing {_UV} into {_TOOLS / 'tools'} ...", flush=True)
    try:
        venv.create(_TOOLS / "tools", with_pip=True, clear=True)
    except subprocess.CalledProcessError as error:  # Debian divides Python into parts
        raise BuildFailed(f"{sys.executable} has no pip of its own (Debian: apt-get install python3-venv).") from error
    run([str(_TOOLS / "tools" / "bin" / "python"), "-m", "pip", "install", "-q", "--disable-pip-version-check", _UV])
    return str(_TOOLS / "tools" / "bin" / "uv")


def sam() -> str:
    """The path of the SAM CLI, installed on first use into an environment of its own.

    It pins boto3, click and pydantic to versions that the project's own lock does not agree with.
    """
    home = _TOOLS / "sam"
    stamp = home / ".requirements"
    wanted = _SAM_REQUIREMENTS.read_text()
    if not stamp.is_file() or stamp.read_text() != wanted:
        print(f"Installing the SAM CLI into {home} ...", flush=True)
        run([uv(), "venv", "-q", "--clear", "-p", sys.executable, str(home)])
        run([uv(), "pip", "install", "-q", "-p", str(home / "bin" / "python"), "-r", str(_SAM_REQUIREMENTS)])
        stamp.write_text(wanted)
    return str(home / "bin" / "sam")


def sam_environment(**more: str) -> dict[str, str]:
    """The environment for the SAM CLI: no telemetry, and a region, which it asks for even when it stays offline."""
    return {"AWS_DEFAULT_REGION": "us-east-1", **os.environ, "SAM_CLI_TELEMETRY": "0", **more}


def require_make() -> None:
    """Raise BuildFailed unless make is there: `sam build` runs our own steps through it."""
    if shutil.which("make") is None:
        raise BuildFailed("`make` is not installed; `sam build` needs it (Debian: apt-get install make).")
