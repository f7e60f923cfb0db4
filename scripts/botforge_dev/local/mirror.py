"""A folder that mirrors named things held in memory, one file each; a file is whole or not there."""

import hashlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

_PARTIAL = ".partial"


class Mirror:
    """Things have a name and a mark, which changes whenever their content does."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._marks: dict[str, object] = {}
        folder.mkdir(parents=True, exist_ok=True)

    def contents(self) -> Iterator[bytes]:
        """What earlier runs have left."""
        for file in sorted(self._folder.iterdir()):
            if file.suffix != _PARTIAL:
                yield file.read_bytes()

    def adopt(self, marks: Mapping[str, object]) -> None:
        """Take these as what the folder holds already."""
        self._marks = dict(marks)

    def sync(self, marks: Mapping[str, object], render: Callable[[str], bytes]) -> None:
        """Write what is new or has changed, remove what is gone."""
        for name, mark in marks.items():
            if self._marks.get(name) != mark:
                self._write(name, render(name))
        for name in self._marks.keys() - marks.keys():
            self._file(name).unlink(missing_ok=True)
        self._marks = dict(marks)

    def _write(self, name: str, content: bytes) -> None:
        file = self._file(name)
        partial = file.with_suffix(_PARTIAL)
        partial.write_bytes(content)
        partial.replace(file)

    def _file(self, name: str) -> Path:
        """Names may be longer than file names, and hold what no file name can."""
        return self._folder / hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()
