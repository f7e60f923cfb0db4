"""POST /vector/query and GET /vector/stats/{user_id}/{bot_id}."""

from botforge.wiring.query import build

handler = build()
