"""/upload: documents and namespaces."""

from botforge.adapters.postgres.bots import PostgresBots
from botforge.adapters.postgres.chunks import PostgresChunks
from botforge.adapters.postgres.documents import PostgresDocuments
from botforge.adapters.storage.s3 import S3ObjectStore
from botforge.http.gateway import Handler
from botforge.http.routes.documents import documents_router
from botforge.services.uploads import UploadService
from botforge.settings import DocumentsSettings, load
from botforge.wiring.database import connect
from botforge.wiring.web import web_handler


def build() -> Handler:
    settings = load(DocumentsSettings)
    database = connect(settings)
    service = UploadService(
        bots=PostgresBots(database),
        documents=PostgresDocuments(database),
        chunks=PostgresChunks(database),
        objects=S3ObjectStore(settings.bucket),
    )
    return web_handler([documents_router(service)], settings)
