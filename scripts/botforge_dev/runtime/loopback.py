"""Joining another network with this machine's loopback, port by port."""

import contextlib
import socket
import struct
import threading
from collections.abc import Mapping

_CHUNK_BYTES = 65536


class Bridge:
    """Accepts on sockets that listen elsewhere, and connects each to its port of 127.0.0.1 here."""

    def __init__(self, listeners: Mapping[int, socket.socket]) -> None:
        """``listeners``: the port here → the socket that listens for it. They are closed with the bridge."""
        self._listeners = list(listeners.values())
        for port, listener in listeners.items():
            threading.Thread(target=_accept, args=(listener, port), daemon=True).start()

    def close(self) -> None:
        for listener in self._listeners:
            with contextlib.suppress(OSError):
                listener.shutdown(socket.SHUT_RDWR)  # wakes the thread that accepts
            listener.close()


def receive_listeners(channel: socket.socket, count: int) -> dict[int, socket.socket]:
    """Listening sockets of another namespace, sent over ``channel`` with their port.

    Raises ConnectionError when the sender is gone.
    """
    listeners: dict[int, socket.socket] = {}
    for _ in range(count):
        message, descriptors, _, _ = socket.recv_fds(channel, 2, 1)
        if not descriptors:
            raise ConnectionError("the function's namespace could not be set up")
        (port,) = struct.unpack("!H", message)
        listeners[int(port)] = socket.socket(fileno=descriptors[0])
    return listeners


def _accept(listener: socket.socket, port: int) -> None:
    while True:
        try:
            inside, _ = listener.accept()
        except OSError:
            return  # closed
        threading.Thread(target=_join, args=(inside, port), daemon=True).start()


def _join(inside: socket.socket, port: int) -> None:
    """Carry bytes both ways until both sides have finished, or one breaks off."""
    with inside:
        try:
            outside = socket.create_connection(("127.0.0.1", port))
        except OSError:
            return  # to the function, as if nobody listened
        with outside:
            back = threading.Thread(target=_pump, args=(outside, inside), daemon=True)
            back.start()
            _pump(inside, outside)
            back.join()


def _pump(source: socket.socket, sink: socket.socket) -> None:
    try:
        while data := source.recv(_CHUNK_BYTES):
            sink.sendall(data)
        sink.shutdown(socket.SHUT_WR)
    except OSError:
        for end in (source, sink):  # one side has broken off: tell both
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
