"""``./scripts/test``: the tests, in this project's environment or in one of another Python version."""

import argparse
import os
import subprocess
import sys

from botforge_dev.build import toolchain
from botforge_dev.build.layout import ROOT
from botforge_dev.model.weights import WeightsError, ensure_weights

_FAST = "not slow and not sam"


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="test", description=__doc__, epilog="Further arguments go to pytest.")
    parser.add_argument("--python", metavar="VERSION", help="run on this version, in an environment of its own")
    parser.add_argument(
        "--slow", action="store_true", help="the slow suites too: builds, the deployed layout, evaluation"
    )
    parser.add_argument("--sam", action="store_true", help="the suite that drives `sam local` (needs a Docker engine)")
    options, further = parser.parse_known_args(arguments)
    try:
        python = sys.executable if options.python is None else _environment(options.python)
        ensure_weights()
    except (toolchain.BuildFailed, WeightsError) as error:
        print(f"test: {error}", file=sys.stderr)
        return 1
    command = [python, "-m", "pytest", "-m", _markers(slow=options.slow, sam=options.sam)]
    if not any(argument.startswith("-n") for argument in further):
        command += ["-n", "2"]
    return subprocess.run([*command, *further], cwd=ROOT, check=False).returncode  # noqa: S603 - our own tests


def _markers(*, slow: bool, sam: bool) -> str:
    if sam:
        return "sam"
    return "not sam" if slow else _FAST


def _environment(version: str) -> str:
    """The interpreter of an environment with this Python, made or brought up to date. Raises BuildFailed."""
    folder = ROOT / f".venv-{version}"
    env = {**os.environ, "UV_PROJECT_ENVIRONMENT": str(folder)}
    toolchain.run([toolchain.uv(), "sync", "-q", "--locked", "-p", _interpreter(version)], env=env)
    return str(folder / "bin" / "python")


def _interpreter(version: str) -> str:
    """pyenv keeps versions where uv does not look; anything else uv finds, or fetches, by itself."""
    pyenv = ROOT.home() / ".pyenv" / "versions"
    found = sorted(pyenv.glob(f"{version}.*/bin/python{version}"))
    return str(found[-1]) if found else version


if __name__ == "__main__":
    sys.exit(main())
