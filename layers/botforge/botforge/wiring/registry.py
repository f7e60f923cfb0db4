"""/api/bots."""

from botforge.adapters.clock import SystemClock
from botforge.adapters.postgres.bots import PostgresBots
from botforge.http.gateway import Handler
from botforge.http.routes.bots import bots_router
from botforge.services.bots import BotService
from botforge.settings import RegistrySettings, load
from botforge.wiring.database import connect
from botforge.wiring.web import web_handler


def build() -> Handler:
    settings = load(RegistrySettings)
    service = BotService(PostgresBots(connect(settings)), SystemClock())
    return web_handler([bots_router(service)], settings)
