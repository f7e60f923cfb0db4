"""``./scripts/serve``: the whole of BotForge on this machine, until Ctrl-C."""

import argparse
import logging
import signal
import sys
import time
from pathlib import Path

import psycopg

from botforge_dev.local.aws import AwsError
from botforge_dev.local.data_folder import FolderError
from botforge_dev.local.postgres import PostgresError
from botforge_dev.local.supervisor import ROOT, LocalStack, StackError
from botforge_dev.model.weights import WeightsError

_LINES = """
BotForge serves {url}   (Ctrl-C stops it; data stays in {folder})

  TOKEN={token}

Paste these into another terminal:

  export TOKEN=$(python3 -c 'import json; print(json.load(open("{folder}/local.json"))["token"])')
  # create a bot
  curl -s {url}/api/bots -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' -d '{{"name": "My bot"}}'
  # upload a document to the demo bot, then watch its status
  curl -s {url}/upload/documents -H "Authorization: Bearer $TOKEN" -F bot_id={bot} -F file=@README.md
  curl -s {url}/upload/documents/{bot} -H "Authorization: Bearer $TOKEN"
  # or put it straight into the bucket
  AWS_ACCESS_KEY_ID=local AWS_SECRET_ACCESS_KEY=local AWS_DEFAULT_REGION={region} \\
    aws --endpoint-url {s3} s3 cp README.md s3://{bucket}/{user}/{bot}/README.md
  # ask
  curl -s {url}/vector/query -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' \\
    -d '{{"user_id": "{user}", "bot_id": "{bot}", "client_id": "me", "query": "What is BotForge?"}}'
"""


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="serve", description=__doc__)
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--data-dir", type=Path, default=ROOT / ".botforge", help="where data is kept")
    parser.add_argument("--reset", action="store_true", help="forget all data first")
    options = parser.parse_args(arguments)
    logging.basicConfig(level=logging.WARNING, format="  %(message)s", stream=sys.stdout)
    logging.getLogger("botforge_dev").setLevel(logging.INFO)
    folder = options.data_dir.absolute()
    start = time.monotonic()

    def report(what: str) -> None:
        print(f"  {time.monotonic() - start:5.1f} s  {what}", flush=True)

    # SIGINT as well: a shell that starts us in the background has it ignored.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _interrupt)
    try:
        with LocalStack(folder, options.port, report, fresh=options.reset) as stack:
            report("ready")
            described = stack.description
            print(_LINES.format(folder=folder, s3=described["endpoints"]["s3"], **described), flush=True)
            stack.wait()
    except KeyboardInterrupt:
        print("\nstopped", flush=True)
    except (StackError, FolderError, AwsError, PostgresError, WeightsError, psycopg.Error) as error:
        print(f"serve: {error}", file=sys.stderr)
        return 1
    return 0


def _interrupt(_signal: int, _frame: object) -> None:
    """Once: whoever presses Ctrl-C again must not stop what stops the children."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    raise KeyboardInterrupt


if __name__ == "__main__":
    sys.exit(main())
