"""A real HTTP server with S3's API (moto) on a free port of the loopback address."""

import threading
from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from moto.moto_server.werkzeug_app import (  # pyright: ignore[reportMissingTypeStubs]
    DomainDispatcherApplication,
    MotoRequestHandler,
    create_backend_app,
)
from werkzeug.serving import make_server

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client


@contextmanager
def s3_server() -> Generator[str]:
    """Runs until the block ends; gives the server's URL."""
    application = DomainDispatcherApplication(create_backend_app)
    server = make_server("127.0.0.1", 0, application, threaded=True, request_handler=MotoRequestHandler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def new_bucket(client: "S3Client", name: str, *, versioned: bool) -> None:
    client.create_bucket(Bucket=name)
    if versioned:
        client.put_bucket_versioning(Bucket=name, VersioningConfiguration={"Status": "Enabled"})
