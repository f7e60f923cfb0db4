"""Numbered SQL files, each applied once, in order, under an advisory lock."""

import re
from importlib.resources import files
from typing import LiteralString, cast

import psycopg

_LOCK = 0x626F74666F726765  # "botforge": one number for every process that migrates
_NAME = re.compile(r"(\d{4})_[a-z0-9_]+\.sql")

_CREATE_LEDGER: LiteralString = """
create table if not exists schema_migrations (version integer primary key, name text not null,
                                              applied_at timestamptz not null default now());
grant select on schema_migrations to public
"""


def available() -> dict[int, str]:
    """The migrations that this package carries: version → file name."""
    found = {int(match[1]): match[0] for file in _folder().iterdir() if (match := _NAME.fullmatch(file.name))}
    return dict(sorted(found.items()))


def migrate(dsn: str) -> list[str]:
    """Bring the database at ``dsn`` (an owner's, not the runtime roles') up to date; the names that were applied.

    Every migration is a transaction of its own, and the whole run holds an advisory lock, so that two deployments
    cannot interleave. Raises psycopg.Error when a migration fails; those before it stay applied.
    """
    applied: list[str] = []
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute("select pg_advisory_lock(%s)", (_LOCK,))
        connection.execute(_CREATE_LEDGER)
        rows = connection.execute("select version from schema_migrations").fetchall()
        done = {row[0] for row in rows}
        for version, name in available().items():
            if version in done:
                continue
            # The file is part of this package, so it is as literal as a string in the code.
            script = cast("LiteralString", (_folder() / name).read_text(encoding="utf-8"))
            with connection.transaction():
                connection.execute(script)
                connection.execute("insert into schema_migrations (version, name) values (%s, %s)", (version, name))
            applied.append(name)
    return applied


def _folder():  # noqa: ANN202 - importlib.resources' Traversable has moved between modules across Python versions
    return files(__package__ or "botforge.adapters.postgres") / "migrations"
