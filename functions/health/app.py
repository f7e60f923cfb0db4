"""GET /health."""

from botforge.wiring.health import build

handler = build()
