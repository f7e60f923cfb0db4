"""Credentials sealed by AWS KMS: the key never leaves it, and every use is in CloudTrail with its context."""

# The stubs overload `client` for every service, and type those that are not installed as unknown.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
from collections.abc import Mapping

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from botforge.domain.errors import VaultUnavailable


class KmsVault:
    """``key_id``: the id, ARN or alias of a symmetric key. A plaintext may have 4,096 bytes (KMS, "Encrypt")."""

    def __init__(self, key_id: str, *, region: str | None = None, endpoint: str | None = None) -> None:
        config = Config(connect_timeout=2, read_timeout=3, retries={"max_attempts": 2, "mode": "standard"})
        self._key_id = key_id
        self._client = boto3.client("kms", region_name=region, endpoint_url=endpoint, config=config)

    def seal(self, plaintext: bytes, *, context: Mapping[str, str]) -> bytes:
        try:
            answer = self._client.encrypt(KeyId=self._key_id, Plaintext=plaintext, EncryptionContext=dict(context))
        except (BotoCoreError, ClientError) as error:
            raise VaultUnavailable("A credential could not be sealed.") from error
        return answer["CiphertextBlob"]

    def open(self, sealed: bytes, *, context: Mapping[str, str]) -> bytes:
        # Naming the key refuses a ciphertext that was made with any other, even one that we may use.
        try:
            answer = self._client.decrypt(KeyId=self._key_id, CiphertextBlob=sealed, EncryptionContext=dict(context))
        except (BotoCoreError, ClientError) as error:
            raise VaultUnavailable("A credential could not be opened.") from error
        return answer["Plaintext"]
