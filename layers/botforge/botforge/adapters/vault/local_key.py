"""Credentials sealed with a key in a file: for local development, where there is no KMS.

AES-256-GCM with a random nonce of 96 bits (NIST SP 800-38D); the context is authenticated beside the ciphertext.
"""

import json
import os
import secrets
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from botforge.domain.errors import VaultUnavailable

_VERSION = b"\x01"
_KEY_BYTES = 32
_NONCE_BYTES = 12


class LocalKeyVault:
    """The key file is made when it is first needed, readable by its owner alone."""

    def __init__(self, key_file: Path) -> None:
        self._key_file = key_file

    def seal(self, plaintext: bytes, *, context: Mapping[str, str]) -> bytes:
        nonce = secrets.token_bytes(_NONCE_BYTES)
        return _VERSION + nonce + self._cipher().encrypt(nonce, plaintext, _authenticated(context))

    def open(self, sealed: bytes, *, context: Mapping[str, str]) -> bytes:
        if not sealed.startswith(_VERSION):
            raise VaultUnavailable("A credential was sealed in another way.")
        nonce, ciphertext = sealed[1 : 1 + _NONCE_BYTES], sealed[1 + _NONCE_BYTES :]
        try:
            return self._cipher().decrypt(nonce, ciphertext, _authenticated(context))
        except (InvalidTag, ValueError) as error:
            raise VaultUnavailable("A credential could not be opened.") from error

    def _cipher(self) -> AESGCM:
        try:
            key = self._key_file.read_bytes() if self._key_file.exists() else self._made()
        except OSError as error:
            raise VaultUnavailable("The key of the credentials cannot be read.") from error
        if len(key) != _KEY_BYTES:
            raise VaultUnavailable("The key of the credentials is damaged.")
        return AESGCM(key)

    def _made(self) -> bytes:
        """Several functions may be first at the same time: whose file is linked first, all use."""
        self._key_file.parent.mkdir(parents=True, exist_ok=True)
        draft = self._key_file.with_name(f"{self._key_file.name}.{secrets.token_hex(8)}")
        descriptor = os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(secrets.token_bytes(_KEY_BYTES))
            with suppress(FileExistsError):  # another was faster: its key is as good
                self._key_file.hardlink_to(draft)
        finally:
            draft.unlink()
        return self._key_file.read_bytes()


def _authenticated(context: Mapping[str, str]) -> bytes:
    return json.dumps(dict(sorted(context.items())), separators=(",", ":")).encode("utf-8")
