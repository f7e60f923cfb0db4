"""Run a command in a network of its own: ``unshare -n python alone.py COMMAND...``.

For servers that listen on all interfaces: the namespace has its loopback, and nobody else is in it.
"""

import fcntl
import os
import socket
import struct
import sys

_SIOCSIFFLAGS = 0x8914  # linux/sockios.h
_IFF_UP = 0x1  # linux/if.h

with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
    fcntl.ioctl(control, _SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", _IFF_UP))
os.execv(sys.argv[1], sys.argv[1:])  # noqa: S606 - the test's own command
