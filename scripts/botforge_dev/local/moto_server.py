"""moto's server with a memory: ``python -m botforge_dev.local.moto_server --port N --folder DIR --bucket NAME``.

moto holds everything in memory. Here a request that changed objects or messages is answered once the change lies on
disk, so that nothing that was acknowledged is lost, however the stack ends; the next start takes it up from there:
objects as they were (ETag included, so that nothing is taken for new), messages with their count of receives.
"""

import argparse
import json
import signal
import sys
import threading
from collections.abc import Callable, Iterable
from datetime import datetime
from io import BytesIO
from pathlib import Path
from typing import Any

from moto.core.models import DEFAULT_ACCOUNT_ID
from moto.moto_server.werkzeug_app import (  # pyright: ignore[reportMissingTypeStubs]
    DomainDispatcherApplication,
    MotoRequestHandler,
    create_backend_app,
)
from moto.s3.models import s3_backends
from moto.sqs.models import Message, sqs_backends
from werkzeug.serving import make_server

from botforge_dev.local.mirror import Mirror

REGION = "us-east-1"
_READING = frozenset({"GET", "HEAD", "OPTIONS"})

Environ = dict[str, Any]
StartResponse = Callable[..., Any]


class Objects:
    """The objects of one bucket."""

    def __init__(self, folder: Path, bucket: str) -> None:
        self._mirror = Mirror(folder)
        self._backend: Any = s3_backends[DEFAULT_ACCOUNT_ID]["aws"]
        self._bucket = bucket
        self._backend.create_bucket(bucket, REGION)

    def restore(self) -> None:
        for content in self._mirror.contents():
            header, _, body = content.partition(b"\n")
            described = json.loads(header)
            key = self._backend.put_object(
                self._bucket, described["key"], body, etag=described["etag"], disable_notification=True
            )
            key.set_metadata(described["metadata"], replace=True)
            key.last_modified = datetime.fromisoformat(described["last_modified"])
        self._mirror.adopt(self._marks())

    def save(self) -> None:
        self._mirror.sync(self._marks(), self._render)

    def _marks(self) -> dict[str, object]:
        return {name: (key.etag, key.last_modified, dict(key.metadata)) for name, key in self._keys().items()}

    def _keys(self) -> Any:  # noqa: ANN401 - moto has no types
        bucket = self._backend.buckets.get(self._bucket)
        return {} if bucket is None else bucket.keys

    def _render(self, name: str) -> bytes:
        key = self._keys()[name]
        header = {
            "key": name,
            "etag": key.etag.strip('"'),
            "metadata": dict(key.metadata),
            "last_modified": key.last_modified.isoformat(),
        }
        return json.dumps(header).encode() + b"\n" + key.value


class Queues:
    """The messages of every queue. What an earlier run left in a queue is there again once it is created."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._mirrors: dict[str, Mirror] = {}
        self._queues: dict[str, Any] = sqs_backends[DEFAULT_ACCOUNT_ID][REGION].queues

    def save(self) -> None:
        for name, queue in list(self._queues.items()):
            if name not in self._mirrors:
                self._mirrors[name] = Mirror(self._folder / name)
                self._restore(name, queue)
            messages = {message.id: message for message in list(queue._messages)}  # noqa: SLF001 - it has no other way
            marks = {id_: message.approximate_receive_count for id_, message in messages.items()}
            self._mirrors[name].sync(marks, lambda id_, messages=messages: _rendered(messages[id_]))

    def _restore(self, name: str, queue: Any) -> None:  # noqa: ANN401 - moto has no types
        kept = [json.loads(content) for content in self._mirrors[name].contents()]
        for described in sorted(kept, key=lambda each: each["sent"]):
            message: Any = Message(described["id"], described["body"])
            message.mark_sent()
            message.sent_timestamp = described["sent"]
            message.approximate_receive_count = described["receives"]
            queue.add_message(message)
        self._mirrors[name].adopt({described["id"]: described["receives"] for described in kept})


class Durable:
    """WSGI: the application, and what it changed put on disk before anybody hears of it."""

    def __init__(
        self, application: Callable[..., Iterable[bytes]], objects: Objects, queues: Queues, path: str
    ) -> None:
        self._application = application
        self._objects = objects
        self._queues = queues
        self._path = path
        self._writing = threading.Lock()
        self._saving = threading.Lock()

    def __call__(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        if environ["REQUEST_METHOD"] in _READING:
            return self._application(environ, start_response)
        if environ["PATH_INFO"].startswith(self._path):
            _read_whole(environ)  # a slow sender must not hold up the others
            # One at a time: moto sends an object's event before the object is complete.
            with self._writing:
                response = self._answered(environ, start_response)
                # Events lie on disk before what they tell of: one too many does no harm, one too few would.
                self._objects.save()
                return response
        return self._answered(environ, start_response)

    def _answered(self, environ: Environ, start_response: StartResponse) -> list[bytes]:
        response = [b"".join(self._application(environ, start_response))]
        with self._saving:
            self._queues.save()
        return response


def _rendered(message: Any) -> bytes:  # noqa: ANN401 - moto has no types
    described = {
        "id": message.id,
        "body": message.body,
        "sent": message.sent_timestamp,
        "receives": message.approximate_receive_count,
    }
    return json.dumps(described).encode()


def _read_whole(environ: Environ) -> None:
    stream = environ["wsgi.input"]
    whole = environ.get("wsgi.input_terminated")  # chunked: the stream knows its end
    environ["wsgi.input"] = BytesIO(stream.read() if whole else stream.read(int(environ.get("CONTENT_LENGTH") or 0)))


def _exit(_signal: int, _frame: object) -> None:
    sys.exit(0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--bucket", required=True)
    options = parser.parse_args()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _exit)
    objects = Objects(options.folder / "objects", options.bucket)
    objects.restore()
    application = DomainDispatcherApplication(create_backend_app)
    durable = Durable(application, objects, Queues(options.folder / "queues"), f"/{options.bucket}")
    make_server("127.0.0.1", options.port, durable, threaded=True, request_handler=MotoRequestHandler).serve_forever()


if __name__ == "__main__":
    main()
