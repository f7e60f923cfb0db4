"""The folder that one stack at a time keeps its data in."""

import fcntl
import os
import secrets
import shutil
from pathlib import Path
from typing import IO

from botforge_dev.local import processes
from botforge_dev.local.postgres import Postgres

_LOCK = "serve.lock"  # also the sign that the folder is ours


class FolderError(Exception):
    """The folder cannot be used; the message is for the user."""


class DataFolder:
    def __init__(self, path: Path) -> None:
        self.path = path.absolute()
        self._lock: IO[str] | None = None

    def acquire(self) -> None:
        """Take the folder, which is made if it is not there. Raises FolderError if it is in use or not ours."""
        if self.path.is_dir() and any(self.path.iterdir()) and not (self.path / _LOCK).exists():
            raise FolderError(f"{self.path} holds something else. Choose another folder with --data-dir.")
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            lock = (self.path / _LOCK).open("a+", encoding="ascii")
        except OSError as error:
            raise FolderError(f"{self.path} cannot be written to: {error}.") from error
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            lock.seek(0)
            holder = lock.read().strip() or "another process"
            lock.close()
            raise FolderError(
                f"{self.path} is being served by {holder}. Stop that, or choose another folder with --data-dir."
            ) from None
        lock.truncate(0)
        lock.write(f"process {os.getpid()}")
        lock.flush()
        self._lock = lock
        (self.path / "logs").mkdir(exist_ok=True)

    def release(self) -> None:
        if self._lock is not None:
            self._lock.close()  # and so unlocks
            self._lock = None

    def clear(self) -> None:
        """Remove all that earlier runs kept, while the folder is ours."""
        Postgres(self.path / "postgres", 0).destroy()
        for entry in self.path.iterdir():
            if entry.name == _LOCK:
                continue
            if entry.is_dir() and not entry.is_symlink():
                shutil.rmtree(entry)
            else:
                entry.unlink()
        (self.path / "logs").mkdir()

    def log(self, name: str) -> Path:
        return self.path / "logs" / f"{name}.log"

    def port(self, name: str) -> int:
        """A free port, the same as last time if it still is."""
        file = self.path / f"{name}.port"
        known = int(file.read_text(encoding="ascii") or 0) if file.exists() else 0
        port = known if known and processes.is_free(known) else processes.free_port()
        file.write_text(str(port), encoding="ascii")
        return port

    def secret(self, name: str) -> str:
        """A random one that stays the same."""
        file = self.path / name
        if not file.exists() or not file.read_text(encoding="ascii"):
            file.touch(mode=0o600)
            file.write_text(secrets.token_urlsafe(24), encoding="ascii")
        return file.read_text(encoding="ascii")
