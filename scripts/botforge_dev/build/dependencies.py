"""Installing the locked dependencies for the machine that a function will run on, whichever machine builds."""

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from botforge_dev.build import toolchain
from botforge_dev.build.layout import RUNTIME, Architecture


@dataclass(frozen=True, slots=True)
class Dependencies:
    """A part of `uv.lock`: the project's own dependencies (``group=None``), or one dependency group."""

    group: str | None = None
    prune: Sequence[str] = ()  # packages left out, with what only they need


def install(dependencies: Dependencies, architecture: Architecture, target: Path) -> None:
    """Put the wheels' files into ``target``; versions and hashes are the lock's.

    Raises BuildFailed when the lock is out of date, or a package has no wheel for the platform.
    """
    uv = toolchain.uv()
    part = ["--only-group", dependencies.group] if dependencies.group else ["--no-default-groups"]
    pruned = [argument for package in dependencies.prune for argument in ("--prune", package)]
    with tempfile.TemporaryDirectory() as folder:
        requirements = str(Path(folder) / "requirements.txt")
        toolchain.run(
            (uv, "export", "-q", "--locked", "--no-emit-project", "--no-header", *part, *pruned, "-o", requirements)
        )
        toolchain.run(
            (uv, "pip", "install", "-q", "--no-deps", "--require-hashes", "--only-binary", ":all:", "-r", requirements),
            ("--python-platform", architecture.wheel_platform, "--python-version", RUNTIME, "--target", str(target)),
            ("--link-mode", "copy"),  # what is trimmed and dated afterwards must not be uv's own cache
        )
