"""A deployment without a key for credentials: servers that need none work, and any other is refused."""

from collections.abc import Mapping
from typing import NoReturn

from botforge.domain.errors import VaultUnavailable


class AbsentVault:
    def seal(self, plaintext: bytes, *, context: Mapping[str, str]) -> bytes:
        _refuse(plaintext, context)

    def open(self, sealed: bytes, *, context: Mapping[str, str]) -> bytes:
        _refuse(sealed, context)


def _refuse(_text: bytes, _context: Mapping[str, str]) -> NoReturn:
    raise VaultUnavailable(
        "This deployment keeps no credentials.",
        code="vault_not_configured",
        next_step="Register the server without a credential, or ask the operator for a key.",
    )
