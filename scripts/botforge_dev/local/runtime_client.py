"""The runtime's side of the Runtime API, for machines on which ``awslambdaric`` does not install (macOS)."""

import http.client
import importlib
import json
import os
import sys
import time
import traceback
from dataclasses import dataclass
from typing import Any

_PREFIX = "/2018-06-01/runtime"


@dataclass(frozen=True, slots=True)
class Context:
    aws_request_id: str
    deadline_ms: int
    invoked_function_arn: str
    function_name: str = os.environ.get("AWS_LAMBDA_FUNCTION_NAME", "")
    function_version: str = "$LATEST"
    memory_limit_in_mb: str = os.environ.get("AWS_LAMBDA_FUNCTION_MEMORY_SIZE", "512")

    def get_remaining_time_in_millis(self) -> int:
        return max(0, self.deadline_ms - int(time.time() * 1000))


def main(handler_name: str) -> None:
    connection = http.client.HTTPConnection(os.environ["AWS_LAMBDA_RUNTIME_API"])
    module_name, _, function_name = handler_name.rpartition(".")
    try:
        handler = getattr(importlib.import_module(module_name), function_name)
    except Exception as error:  # noqa: BLE001 - reported, as Lambda's own client does
        traceback.print_exc()
        _post(connection, "/init/error", _described(error))
        sys.exit(1)
    while True:
        connection.request("GET", f"{_PREFIX}/invocation/next")
        response = connection.getresponse()
        event = json.loads(response.read())
        request_id = response.headers["Lambda-Runtime-Aws-Request-Id"]
        deadline = int(response.headers["Lambda-Runtime-Deadline-Ms"])
        context = Context(request_id, deadline, response.headers["Lambda-Runtime-Invoked-Function-Arn"])
        try:
            reply = handler(event, context)
        except Exception as error:  # noqa: BLE001 - reported, as Lambda's own client does
            traceback.print_exc()
            _post(connection, f"/invocation/{request_id}/error", _described(error))
        else:
            _post(connection, f"/invocation/{request_id}/response", reply)


def _post(connection: http.client.HTTPConnection, path: str, body: Any) -> None:  # noqa: ANN401 - any JSON
    connection.request("POST", _PREFIX + path, json.dumps(body), {"Content-Type": "application/json"})
    connection.getresponse().read()


def _described(error: BaseException) -> dict[str, str]:
    return {"errorType": type(error).__name__, "errorMessage": str(error)}


if __name__ == "__main__":
    main(sys.argv[1])
