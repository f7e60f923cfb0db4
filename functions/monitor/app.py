"""A schedule: expire, purge, refresh."""

from botforge.wiring.monitor import build

handler = build()
