"""The manifest of what the project promises, each with the tests that prove it: ``docs/requirements.toml``."""

import re
import sys
import tomllib
from pathlib import Path
from typing import Any

from botforge_dev.build.layout import ROOT

MANIFEST = ROOT / "docs" / "requirements.toml"


def check() -> int:
    """0 if every requirement names at least one proof, and every proof exists; otherwise says which does not."""
    manifest: dict[str, dict[str, Any]] = tomllib.loads(MANIFEST.read_text(encoding="utf-8"))
    problems = [f"{name}: {problem}" for name, requirement in manifest.items() for problem in _problems(requirement)]
    for problem in problems:
        print(problem)
    return 1 if problems else 0


def _problems(requirement: dict[str, Any]) -> list[str]:
    proofs: list[str] = requirement.get("proofs", [])
    if not requirement.get("promise") or not proofs:
        return ["names no promise, or no proof of it"]
    return [f"there is no {proof}" for proof in proofs if not _exists(proof)]


def _exists(proof: str) -> bool:
    """``tests/x.py::test_name``, or a file that is run by hand (a benchmark, a command)."""
    file, _, test = proof.partition("::")
    path: Path = ROOT / file
    if not path.is_file():
        return False
    return (
        not test or re.search(rf"^def {re.escape(test)}\(", path.read_text(encoding="utf-8"), re.MULTILINE) is not None
    )


if __name__ == "__main__":
    sys.exit(check())
