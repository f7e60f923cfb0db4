"""A laboratory in a database of its own, for as long as it is needed."""

import sys
import tempfile
from collections.abc import Generator
from contextlib import closing, contextmanager
from pathlib import Path

from botforge_dev.calibration.samples import Laboratory
from botforge_dev.local import processes
from botforge_dev.local.postgres import Postgres
from botforge_dev.model.weights import MODEL_DIR, ensure_weights


@contextmanager
def laboratory() -> Generator[Laboratory]:
    """An empty one, over the model of the repository; its progress goes to standard error."""
    ensure_weights()
    with tempfile.TemporaryDirectory(prefix="botforge-calibration-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        folder.chmod(0o755)
        postgres = Postgres(folder / "postgres", processes.free_port())
        postgres.start()
        try:
            postgres.create_database("calibration")
            dsn = postgres.dsn("calibration")
            opened = Laboratory.in_database(
                dsn, MODEL_DIR, lambda line: print(f"  {line}", file=sys.stderr, flush=True)
            )
            with closing(opened.database):
                yield opened
        finally:
            postgres.stop()
