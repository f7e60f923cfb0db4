"""A token issuer for one machine: an RSA key in the data folder, and the checks that API Gateway's authorizer makes."""

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast
from uuid import UUID

import jwt
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

ISSUER = "https://local.botforge.invalid"
AUDIENCE = "botforge-local"
_LIFETIME_S = 30 * 24 * 3600


@dataclass(frozen=True, slots=True)
class TokenIssuer:
    private_key: bytes
    public_key: bytes

    @classmethod
    def in_folder(cls, folder: Path) -> "TokenIssuer":
        """The folder's issuer; its key is made on first use."""
        file = folder / "issuer.pem"
        if not file.exists():
            key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
            pem = key.private_bytes(
                serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
            )
            folder.mkdir(parents=True, exist_ok=True)
            file.touch(mode=0o600)
            file.write_bytes(pem)
        private = file.read_bytes()
        loaded = serialization.load_pem_private_key(private, password=None)
        public = loaded.public_key().public_bytes(
            serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
        )
        return cls(private, public)

    def mint(self, user: UUID) -> str:
        now = int(time.time())
        claims = {"iss": ISSUER, "aud": AUDIENCE, "sub": str(user), "iat": now, "exp": now + _LIFETIME_S}
        return jwt.encode(claims, self.private_key, algorithm="RS256")

    def claims(self, authorization: str | None) -> Mapping[str, str] | None:
        """What the authorizer passes on for an ``Authorization`` header; None if it would refuse.

        It checks the signature (RSA only), ``iss``, ``aud`` (``client_id`` where there is none), ``exp``, ``nbf`` and
        ``iat`` (API Gateway Developer Guide, "Control access to HTTP APIs with JWT authorizers").
        """
        scheme, _, token = (authorization or "").partition(" ")
        if scheme.lower() != "bearer":
            return None
        try:
            claims: Mapping[str, Any] = jwt.decode(
                token.strip(),
                self.public_key,
                algorithms=["RS256"],
                issuer=ISSUER,
                options={"require": ["exp", "iss"], "verify_aud": False},
            )
        except jwt.PyJWTError:
            return None
        audience = claims.get("aud", claims.get("client_id"))
        if AUDIENCE not in (audience if isinstance(audience, list) else [audience]):
            return None
        return {name: _as_text(value) for name, value in claims.items()}


def _as_text(value: Any) -> str:  # noqa: ANN401 - any JSON
    """Claims reach a function as strings; a list's items stand between brackets, divided by spaces."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return f"[{' '.join(_as_text(item) for item in cast('list[Any]', value))}]"
    return json.dumps(value)
