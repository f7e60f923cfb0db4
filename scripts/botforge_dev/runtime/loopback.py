"""Joining the loopback of a network namespace with this machine's, port by port."""

import contextlib
import socket
import struct
import threading

_CHUNK_BYTES = 65536


class Bridge:
    """Accepts on listening sockets of another namespace and connects to the same port of 127.0.0.1 here."""

    def __init__(self, channel: socket.socket, ports: int) -> None:
        """Receive ``ports`` listening sockets over ``channel``. Raises ConnectionError when the sender is gone."""
        self._listeners: list[socket.socket] = []
        for _ in range(ports):
            message, descriptors, _, _ = socket.recv_fds(channel, 2, 1)
            if not descriptors:
                raise ConnectionError("the function's namespace could not be set up")
            listener = socket.socket(fileno=descriptors[0])
            self._listeners.append(listener)
            (port,) = struct.unpack("!H", message)
            threading.Thread(target=_accept, args=(listener, int(port)), daemon=True).start()

    def close(self) -> None:
        for listener in self._listeners:
            with contextlib.suppress(OSError):
                listener.shutdown(socket.SHUT_RDWR)  # wakes the thread that accepts
            listener.close()


def _accept(listener: socket.socket, port: int) -> None:
    while True:
        try:
            inside, _ = listener.accept()
        except OSError:
            return  # closed
        try:
            outside = socket.create_connection(("127.0.0.1", port))
        except OSError:
            inside.close()  # to the function, as if nobody listened
            continue
        for source, sink in ((inside, outside), (outside, inside)):
            threading.Thread(target=_pump, args=(source, sink), daemon=True).start()


def _pump(source: socket.socket, sink: socket.socket) -> None:
    try:
        while data := source.recv(_CHUNK_BYTES):
            sink.sendall(data)
        sink.shutdown(socket.SHUT_WR)
    except OSError:
        for end in (source, sink):  # one side has broken off: tell both
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
