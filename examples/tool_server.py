"""A small tool server of the REST contract: a calculator, unit conversion and text case. Standard library only.

    python examples/tool_server.py [PORT]

GET  /capabilities → the server and its tools
GET  /tools        → its tools
POST /execute      {"tool_name": "calculator", "parameters": {"expression": "2 + 5"}}
                   → {"success": true, "result": {"value": 7}, "error": null}

It listens on 127.0.0.1 alone, keeps nothing, and takes no credentials: what it does is harmless.
"""

import ast
import json
import math
import operator
import sys
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Json = dict[str, Any]

MAX_BODY_BYTES = 64 * 1024
MAX_EXPRESSION = 200  # characters
MAX_NUMBER = 1e100  # no step of a calculation may leave ±MAX_NUMBER
MAX_EXPONENT = 1_000

_OPERATORS: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}

# Metres, kilograms and litres.
_UNITS: dict[str, tuple[str, float]] = {
    "millimeter": ("length", 0.001),
    "centimeter": ("length", 0.01),
    "meter": ("length", 1.0),
    "kilometer": ("length", 1_000.0),
    "inch": ("length", 0.0254),
    "foot": ("length", 0.3048),
    "yard": ("length", 0.9144),
    "mile": ("length", 1_609.344),
    "gram": ("mass", 0.001),
    "kilogram": ("mass", 1.0),
    "ounce": ("mass", 0.028349523125),
    "pound": ("mass", 0.45359237),
    "milliliter": ("volume", 0.001),
    "liter": ("volume", 1.0),
    "gallon": ("volume", 3.785411784),
}
_CASES: dict[str, Callable[[str], str]] = {
    "upper": str.upper,
    "lower": str.lower,
    "title": str.title,
    "uppercase": str.upper,
    "lowercase": str.lower,
}

_UNIT = {"type": "string", "enum": sorted(_UNITS)}
TOOLS: list[Json] = [
    {
        "name": "calculator",
        "description": "Calculate an arithmetic expression with + - * / // % ** and parentheses.",
        "schema": {
            "type": "object",
            "properties": {"expression": {"type": "string", "description": "For example: 25 * 17 + 100"}},
            "required": ["expression"],
            "additionalProperties": False,
        },
    },
    {
        "name": "convert_units",
        "description": "Convert a length, mass or volume from one unit to another.",
        "schema": {
            "type": "object",
            "properties": {"value": {"type": "number"}, "from_unit": _UNIT, "to_unit": _UNIT},
            "required": ["value", "from_unit", "to_unit"],
            "additionalProperties": False,
        },
    },
    {
        "name": "text_case",
        "description": "Change a text to upper, lower or title case.",
        "schema": {
            "type": "object",
            "properties": {"text": {"type": "string"}, "case": {"type": "string", "enum": sorted(_CASES)}},
            "required": ["text", "case"],
            "additionalProperties": False,
        },
    },
]


class ToolError(Exception):
    """The tool cannot do this; the message says why."""


def calculator(parameters: Json) -> Json:
    expression = parameters.get("expression")
    if not isinstance(expression, str) or not 0 < len(expression) <= MAX_EXPRESSION:
        raise ToolError(f"expression must be a text of 1 to {MAX_EXPRESSION} characters")
    try:
        value = _value(ast.parse(expression.strip(), mode="eval").body)
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        raise ToolError("this is no arithmetic expression") from None
    except ArithmeticError as error:
        raise ToolError(f"this cannot be calculated: {error}") from None
    return {"value": int(value) if isinstance(value, float) and value.is_integer() else value}


def convert_units(parameters: Json) -> Json:
    value, source, target = (parameters.get(name) for name in ("value", "from_unit", "to_unit"))
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ToolError("value must be a number")
    known, other = _UNITS.get(str(source)), _UNITS.get(str(target))
    if known is None or other is None:
        raise ToolError(f"units are: {', '.join(sorted(_UNITS))}")
    (kind, size), (other_kind, other_size) = known, other
    if kind != other_kind:
        raise ToolError(f"a {kind} cannot be converted to a {other_kind}")
    return {"value": value * size / other_size, "unit": target}


def text_case(parameters: Json) -> Json:
    text, case = parameters.get("text"), parameters.get("case")
    change = _CASES.get(str(case))
    if not isinstance(text, str) or change is None:
        raise ToolError(f"text must be a text, and case one of: {', '.join(sorted(_CASES))}")
    return {"text": change(text)}


_RUN: dict[str, Callable[[Json], Json]] = {
    "calculator": calculator,
    "convert_units": convert_units,
    "text_case": text_case,
}


def execute(tool_name: object, parameters: object) -> tuple[int, Json]:
    """The HTTP status and body that a call is answered with."""
    run = _RUN.get(tool_name) if isinstance(tool_name, str) else None
    if run is None:
        return 404, _failed("there is no such tool")
    if not isinstance(parameters, dict):
        return 422, _failed("parameters must be an object")
    try:
        return 200, {"success": True, "result": run(parameters), "error": None}
    except ToolError as error:
        return 200, _failed(str(error))


def _value(node: ast.expr) -> int | float:
    match node:
        case ast.Constant(value=bool()):
            raise ValueError
        case ast.Constant(value=int() | float() as number):
            return _bounded(number)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_value(operand)
        case ast.UnaryOp(op=ast.UAdd(), operand=operand):
            return _value(operand)
        case ast.BinOp(left=left, op=ast.Pow(), right=right):
            return _power(_value(left), _value(right))
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            return _bounded(_OPERATORS[type(op)](_value(left), _value(right)))
        case _:
            raise ValueError


def _power(base: float, exponent: float) -> int | float:
    """Bounded before it is calculated: 9 ** 9 ** 9 would fill the memory."""
    if abs(exponent) > MAX_EXPONENT or (base and abs(exponent * math.log10(abs(base))) > math.log10(MAX_NUMBER)):
        raise OverflowError("the number would be too large")
    result = base**exponent
    if isinstance(result, complex):
        raise ToolError("the result is no real number")
    return _bounded(result)


def _bounded(number: float) -> int | float:
    if not abs(number) <= MAX_NUMBER:
        raise OverflowError("a number is too large")
    return number


def _failed(reason: str) -> Json:
    return {"success": False, "result": None, "error": reason}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 30
    disable_nagle_algorithm = True  # headers and body are written apart: the second would wait for a delayed ACK

    def do_GET(self) -> None:
        about = {"name": "example-tools", "version": "1.0.0", "description": "Arithmetic, units and text case."}
        match self.path:
            case "/capabilities":
                self._reply(200, {"server": about, "tools": TOOLS, "protocol_version": "1.0"})
            case "/tools":
                self._reply(200, {"tools": TOOLS})
            case _:
                self._reply(404, _failed("there is no such path"))

    def do_POST(self) -> None:
        try:
            length = int(self.headers.get("Content-Length", ""))
        except ValueError:
            length = -1
        if not 0 <= length <= MAX_BODY_BYTES:
            self.close_connection = True
            self._reply(413, _failed(f"a body has at most {MAX_BODY_BYTES} bytes"))
            return
        body = self.rfile.read(length)
        if self.path != "/execute":
            self._reply(404, _failed("there is no such path"))
            return
        try:
            call = json.loads(body)
        except (ValueError, RecursionError):
            call = None
        if not isinstance(call, dict):
            self._reply(422, _failed("the body must be a JSON object"))
            return
        self._reply(*execute(call.get("tool_name"), call.get("parameters")))

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class names it
        """Say nothing of what was asked."""

    def _reply(self, status: int, body: Json) -> None:
        encoded = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(encoded)))
        self.end_headers()
        self.wfile.write(encoded)


def make_server(port: int = 0) -> ThreadingHTTPServer:
    """Bound to 127.0.0.1, on a free port if none is given; ``serve_forever`` starts it."""
    return ThreadingHTTPServer(("127.0.0.1", port), Handler)


if __name__ == "__main__":
    server = make_server(int(sys.argv[1]) if len(sys.argv) > 1 else 9000)
    print(f"tools at http://127.0.0.1:{server.server_port}")
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        print()
