"""``./scripts/reindex [--bot UUID]``: rebuild the vector index from Postgres.

Reads the same variables as the functions: ``DATABASE_URL`` of a worker (or of the owner), ``VECTOR_BACKEND``, … .
Run it after a change of the index or of the embedding model, which changes for all bots at once.
Without ``DATABASE_URL`` it takes the local stack's.
"""

import argparse
import json
import os
import sys
from pathlib import Path
from uuid import UUID

from botforge.domain.errors import Conflict, Unavailable
from botforge.domain.ids import BotId
from botforge.wiring.reindex import reindex
from botforge_dev.local.supervisor import ROOT
from botforge_dev.model.weights import MODEL_DIR, ensure_weights


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="reindex", description=__doc__)
    parser.add_argument("--bot", type=UUID, help="only this bot's namespace")
    parser.add_argument("--data-dir", type=Path, default=ROOT / ".botforge", help="of the local stack")
    options = parser.parse_args(arguments)
    described = options.data_dir / "local.json"
    if "DATABASE_URL" not in os.environ and "DATABASE_SECRET_ARN" not in os.environ:
        if not described.exists():
            parser.error("set DATABASE_URL, or run ./scripts/serve first")
        os.environ["DATABASE_URL"] = json.loads(described.read_text(encoding="utf-8"))["database"]
    if "EMBEDDING_MODEL_DIR" not in os.environ:
        ensure_weights()
        os.environ["EMBEDDING_MODEL_DIR"] = str(MODEL_DIR)
    try:
        for bot, written in reindex(BotId(options.bot) if options.bot else None):
            print(f"{bot}  {written} vectors", flush=True)
    except (Conflict, Unavailable) as error:
        print(f"reindex: {error.message} {error.next_step or ''}".rstrip(), file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
