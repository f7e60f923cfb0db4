"""examples/tool_server.py: small, honest, and not to be had by an expression."""

import importlib.util
import math
from types import ModuleType
from typing import Any

import pytest
from tests.conftest import ROOT


def _load() -> ModuleType:
    spec = importlib.util.spec_from_file_location("example_tool_server", ROOT / "examples" / "tool_server.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


server: Any = _load()


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("25 * 17 + 100", 525),
        ("2 + 5", 7),
        ("(1 + 2) * -3", -9),
        ("7 / 2", 3.5),
        ("7 // 2", 3),
        ("7 % 4", 3),
        ("2 ** 10", 1024),
        ("2 ** -1", 0.5),
        ("1e3", 1000),
        ("0 ** 0", 1),
    ],
)
def test_arithmetic_is_calculated(expression: str, value: float) -> None:
    assert server.execute("calculator", {"expression": expression}) == (
        200,
        {"success": True, "result": {"value": value}, "error": None},
    )


@pytest.mark.parametrize(
    "expression",
    [
        "",
        "x" * 201,
        "1 +",
        "1 / 0",
        "0 ** -1",
        "9 ** 9 ** 9",
        "2 ** 1001",
        "10 ** 99 * 100",
        "-8 ** 0.5 + (-8) ** 0.5",
        "__import__('os').system('true')",
        "().__class__",
        "'a' * 10",
        "True + 1",
        "[1][0]",
        "1 if 2 else 3",
        "1 << 400000",
        "1e999",
        "1j * 1j",
        "(" * 150 + "1" + ")" * 49,
        None,
        7,
    ],
)
def test_what_is_no_bounded_arithmetic_is_refused_with_a_reason(expression: object) -> None:
    status, body = server.execute("calculator", {"expression": expression})

    assert (status, body["success"], body["result"]) == (200, False, None)
    assert body["error"]


def test_units_are_converted_within_their_kind() -> None:
    _, body = server.execute("convert_units", {"value": 5, "from_unit": "kilometer", "to_unit": "mile"})
    assert math.isclose(body["result"]["value"], 3.10685596, rel_tol=1e-8)
    assert not server.execute("convert_units", {"value": 5, "from_unit": "mile", "to_unit": "liter"})[1]["success"]
    assert not server.execute("convert_units", {"value": True, "from_unit": "mile", "to_unit": "mile"})[1]["success"]
    assert not server.execute("convert_units", {"value": 5, "from_unit": [], "to_unit": "mile"})[1]["success"]


def test_text_changes_its_case() -> None:
    assert server.execute("text_case", {"text": "Äbc", "case": "upper"})[1]["result"] == {"text": "ÄBC"}
    assert not server.execute("text_case", {"text": "abc", "case": "sponge"})[1]["success"]


def test_a_tool_that_is_not_there_and_parameters_that_are_no_object_have_their_own_status() -> None:
    assert server.execute("rm", {})[0] == 404
    assert server.execute(["calculator"], {})[0] == 404
    assert server.execute("calculator", [])[0] == 422
