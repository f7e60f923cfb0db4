"""/api/bots."""

from botforge.wiring.registry import build

handler = build()
