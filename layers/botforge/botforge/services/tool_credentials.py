"""Credentials of tool servers: sealed when they are registered, opened for the call that needs them."""

import json
from dataclasses import dataclass

from botforge.domain.errors import InvalidRequest, VaultUnavailable
from botforge.domain.ids import ToolServerId, UserId
from botforge.domain.tool import Credential, CredentialKind, ToolServer
from botforge.ports.tools import Vault

MAX_PLAINTEXT_BYTES = 4_096  # AWS KMS, "Encrypt": the most that one call encrypts


@dataclass(frozen=True, slots=True)
class ToolCredentials:
    vault: Vault

    def seal(self, user_id: UserId, server_id: ToolServerId, credential: Credential) -> bytes:
        """Raises InvalidRequest for one that is too long, and VaultUnavailable."""
        fields = {
            "kind": credential.kind.value,
            "secret": credential.secret,
            "header": credential.header,
            "token_url": credential.token_url,
            "client_id": credential.client_id,
            "scope": credential.scope,
        }
        plaintext = json.dumps(fields, separators=(",", ":")).encode("utf-8")
        if len(plaintext) > MAX_PLAINTEXT_BYTES:
            raise InvalidRequest("The credential is too long.", code="credential_too_long", field="credential")
        return self.vault.seal(plaintext, context=_context(user_id, server_id))

    def open(self, server: ToolServer) -> Credential | None:
        """The server's credential in the clear; None if it needs none. Raises VaultUnavailable."""
        if server.sealed_credential is None:
            return None
        plaintext = self.vault.open(server.sealed_credential, context=_context(server.user_id, server.id))
        try:
            fields = json.loads(plaintext)
            return Credential(**{**fields, "kind": CredentialKind(fields["kind"])})
        except (ValueError, KeyError, TypeError):
            raise VaultUnavailable("A credential cannot be read.") from None  # the cause would quote it


def _context(user_id: UserId, server_id: ToolServerId) -> dict[str, str]:
    """A ciphertext that is moved to another server's row, or to another tenant's, cannot be opened there."""
    return {"server_id": str(server_id), "user_id": str(user_id)}
