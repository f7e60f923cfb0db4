"""Which module may import which: the contracts of pyproject.toml, and what they cannot say."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from botforge_dev.build.layout import ROOT

_PACKAGE = ROOT / "layers" / "botforge" / "botforge"
_CORE = [path for room in ("domain", "ports", "services") for path in sorted((_PACKAGE / room).rglob("*.py"))]
_HANDLERS = sorted((ROOT / "functions").glob("*/*.py"))


def _imported(path: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are absolute"
            found.add(node.module or "")
    return found


def _name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def test_the_import_contracts_hold() -> None:
    result = subprocess.run(
        [sys.executable, "-c", "from importlinter.cli import lint_imports_command; lint_imports_command()"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize("path", _CORE, ids=_name)
def test_the_core_imports_the_standard_library_and_the_package_only(path: Path) -> None:
    roots = {name.partition(".")[0] for name in _imported(path)}
    assert roots <= {"botforge", *sys.stdlib_module_names}


@pytest.mark.parametrize("path", _HANDLERS, ids=_name)
def test_a_handler_imports_its_own_wiring_and_nothing_else(path: Path) -> None:
    assert _imported(path) == {f"botforge.wiring.{path.parent.name}"}


@pytest.mark.parametrize("path", _HANDLERS, ids=_name)
def test_a_handler_only_wires_and_exposes(path: Path) -> None:
    docstring, wiring, exposed = ast.parse(path.read_text(encoding="utf-8")).body
    assert isinstance(docstring, ast.Expr)
    assert isinstance(wiring, ast.ImportFrom)
    assert ast.unparse(exposed) == "handler = build()"


def test_every_function_folder_holds_a_handler() -> None:
    folders = {path.name for path in (ROOT / "functions").iterdir() if path.is_dir()}
    assert folders == {path.parent.name for path in _HANDLERS}
