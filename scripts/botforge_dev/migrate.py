"""``./scripts/migrate [DSN]``: bring a database up to date, as its owner (``DATABASE_URL`` if no DSN is given)."""

import argparse
import os
import sys

import psycopg

from botforge.adapters.postgres.migrate import migrate


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="migrate", description=__doc__)
    parser.add_argument("dsn", nargs="?", default=os.environ.get("DATABASE_URL"), help="the owner's connection")
    options = parser.parse_args(arguments)
    if not options.dsn:
        parser.error("give a DSN, or set DATABASE_URL")
    try:
        applied = migrate(options.dsn)
    except psycopg.Error as error:
        print(f"migrate: {error}", file=sys.stderr)
        return 1
    print("\n".join(f"applied {name}" for name in applied) or "nothing to apply")
    return 0


if __name__ == "__main__":
    sys.exit(main())
