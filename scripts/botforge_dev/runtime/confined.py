"""Inside the namespaces that `unshare` made: lay out the file system that a function sees, then become it.

Run as ``python -m botforge_dev.runtime.confined SPECIFICATION``, where the argument is JSON (see `Specification`) and
file descriptor ``channel`` is a Unix socket to the process that started this one.
"""

import fcntl
import json
import os
import socket
import struct
import subprocess
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

_SIOCSIFFLAGS = 0x8914  # linux/sockios.h
_IFF_UP = 0x1  # linux/if.h
_NOBODY = 65534
_DEVICES = ("null", "zero", "full", "random", "urandom")  # and no /dev/shm, which Lambda has not either


@dataclass(frozen=True, slots=True)
class Specification:
    """What the function sees. ``folders`` maps its absolute paths to this machine's; all are read-only."""

    channel: int
    root: str  # an empty folder of this machine, which becomes "/"
    folders: dict[str, str]
    hidden: list[str]  # folders below the others that it must find empty
    ports: list[int]  # on its 127.0.0.1, served by whoever holds the other end of the channel
    command: list[str]
    variables: dict[str, str]

    def to_json(self) -> str:
        return json.dumps(asdict(self))


def main(specification: Specification) -> None:
    """Does not return: the process becomes the function."""
    _serve_loopback(specification)
    root = Path(specification.root)
    _mount("-t", "tmpfs", "-o", "mode=755", "tmpfs", str(root))
    for path, source in specification.folders.items():
        _show(Path(source), root / path.lstrip("/"))
    for path in specification.hidden:
        _mount("-t", "tmpfs", "-o", "ro", "tmpfs", str(root / path.lstrip("/")))
    _devices(root)
    os.chroot(root)
    os.chdir("/var/task")
    _drop_privileges()
    os.execve(specification.command[0], specification.command, specification.variables)  # noqa: S606


def _serve_loopback(specification: Specification) -> None:
    """Bring the namespace's own loopback up, and hand its listening sockets to the outside: nothing else leads out."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        fcntl.ioctl(control, _SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", _IFF_UP))
    with socket.socket(fileno=specification.channel) as channel:
        for port in specification.ports:
            with socket.create_server(("127.0.0.1", port)) as listener:
                socket.send_fds(channel, [struct.pack("!H", port)], [listener.fileno()])


def _show(source: Path, target: Path) -> None:
    if source.is_symlink():
        target.symlink_to(source.readlink())
        return
    target.mkdir(parents=True)
    _mount("--rbind", str(source), str(target))
    _mount("-o", "remount,bind,ro", str(target))


def _devices(root: Path) -> None:
    (root / "dev").mkdir()
    for name in _DEVICES:
        (root / "dev" / name).touch()
        _mount("--bind", f"/dev/{name}", str(root / "dev" / name))
    (root / "proc").mkdir()
    _mount("-t", "proc", "proc", str(root / "proc"))
    (root / "tmp").mkdir()
    _mount("-t", "tmpfs", "-o", "size=512m,mode=1777", "tmpfs", str(root / "tmp"))
    _mount("-o", "remount,ro", str(root))


def _drop_privileges() -> None:
    """Lambda runs functions as an unprivileged user. In a user namespace of its own, root already is none."""
    if Path("/proc/self/uid_map").read_text().split()[2] == "4294967295":
        os.setgroups([])
        os.setresgid(_NOBODY, _NOBODY, _NOBODY)
        os.setresuid(_NOBODY, _NOBODY, _NOBODY)


def _mount(*arguments: str) -> None:
    subprocess.run(("mount", *arguments), check=True)  # noqa: S603, S607


if __name__ == "__main__":
    main(Specification(**json.loads(sys.argv[1])))
