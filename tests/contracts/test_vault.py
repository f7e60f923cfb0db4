"""What every vault promises: KMS (moto's server, over HTTP) and the key in a file."""

# The stubs overload `client` for every service, and type those that are not installed as unknown.
# pyright: reportUnknownMemberType=false
import stat
import threading
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import boto3
import pytest
from tests.fakes.s3_server import s3_server
from tests.fakes.tool_records import a_bot, a_server

from botforge.adapters.vault.absent import AbsentVault
from botforge.adapters.vault.kms import KmsVault
from botforge.adapters.vault.local_key import LocalKeyVault
from botforge.domain.errors import InvalidRequest, VaultUnavailable
from botforge.domain.ids import ToolServerId, UserId
from botforge.domain.tool import Credential, CredentialKind
from botforge.ports.tools import Vault
from botforge.services.tool_credentials import MAX_PLAINTEXT_BYTES, ToolCredentials

CONTEXT = {"server_id": "one", "user_id": "two"}
SECRET = b"hunter2-hunter2"


@pytest.fixture(scope="session")
def kms_url() -> Generator[str]:
    with s3_server() as url:
        yield url


@pytest.fixture
def kms(kms_url: str, monkeypatch: pytest.MonkeyPatch) -> KmsVault:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "local")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "local")
    client = boto3.client("kms", endpoint_url=kms_url, region_name="us-east-1")
    key_id = client.create_key()["KeyMetadata"]["KeyId"]
    return KmsVault(key_id, region="us-east-1", endpoint=kms_url)


@pytest.fixture(params=["kms", "local_key"])
def vault(request: pytest.FixtureRequest, tmp_path: Path) -> Vault:
    if request.param == "kms":
        kms: KmsVault = request.getfixturevalue("kms")
        return kms
    return LocalKeyVault(tmp_path / "keys" / "credentials.key")


def test_what_was_sealed_is_opened_with_its_context(vault: Vault) -> None:
    for plaintext in (SECRET, b"\x00\xff" * 20, b"x" * MAX_PLAINTEXT_BYTES):
        sealed = vault.seal(plaintext, context=CONTEXT)
        assert plaintext not in sealed
        assert vault.open(sealed, context=dict(reversed(CONTEXT.items()))) == plaintext


def test_the_same_secret_is_never_sealed_to_the_same_bytes(vault: Vault) -> None:
    assert len({vault.seal(SECRET, context=CONTEXT) for _ in range(20)}) == 20


@pytest.mark.parametrize("other", [{}, {"server_id": "one"}, {**CONTEXT, "user_id": "three"}, {**CONTEXT, "more": "x"}])
def test_another_context_cannot_open_it(vault: Vault, other: dict[str, str]) -> None:
    with pytest.raises(VaultUnavailable) as raised:
        vault.open(vault.seal(SECRET, context=CONTEXT), context=other)
    assert "hunter2" not in repr(raised.value)


def test_what_was_altered_or_never_sealed_cannot_be_opened(vault: Vault) -> None:
    sealed = vault.seal(SECRET, context=CONTEXT)
    for wrong in (sealed[:-1] + bytes([sealed[-1] ^ 1]), sealed[: len(sealed) // 2], sealed[:1], b"nonsense" * 9):
        with pytest.raises(VaultUnavailable):
            vault.open(wrong, context=CONTEXT)


def test_a_server_of_kms_that_does_not_answer_is_unavailable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "local")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "local")
    with pytest.raises(VaultUnavailable):
        KmsVault("key", region="us-east-1", endpoint="http://127.0.0.1:1").seal(SECRET, context=CONTEXT)


def test_the_key_file_is_the_owners_alone_and_stays_the_same(tmp_path: Path) -> None:
    file = tmp_path / "credentials.key"
    sealed = LocalKeyVault(file).seal(SECRET, context=CONTEXT)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert [entry.name for entry in tmp_path.iterdir()] == ["credentials.key"]
    assert LocalKeyVault(file).open(sealed, context=CONTEXT) == SECRET


def test_functions_that_need_a_key_at_the_same_time_make_one(tmp_path: Path) -> None:
    file, together = tmp_path / "credentials.key", threading.Barrier(8)

    def seal(_: int) -> bytes:
        together.wait()
        return LocalKeyVault(file).seal(SECRET, context=CONTEXT)

    with ThreadPoolExecutor(8) as pool:
        sealed = list(pool.map(seal, range(8)))
    assert [LocalKeyVault(file).open(each, context=CONTEXT) for each in sealed] == [SECRET] * 8


def test_a_damaged_key_file_is_said_and_not_replaced(tmp_path: Path) -> None:
    file = tmp_path / "credentials.key"
    file.write_bytes(b"short")
    with pytest.raises(VaultUnavailable):
        LocalKeyVault(file).seal(SECRET, context=CONTEXT)
    assert file.read_bytes() == b"short"


def test_without_a_key_no_credential_is_taken() -> None:
    with pytest.raises(VaultUnavailable) as raised:
        AbsentVault().seal(SECRET, context=CONTEXT)
    assert raised.value.code == "vault_not_configured"


CREDENTIALS = [
    Credential(CredentialKind.BEARER, "secret-token"),
    Credential(CredentialKind.HEADER, "secret-token", header="X-Api-Key"),
    Credential(
        CredentialKind.OAUTH, "secret-token", token_url="https://a.example/t", client_id="id", scope="read write"
    ),
]


@pytest.mark.parametrize("credential", CREDENTIALS, ids=lambda credential: credential.kind)
def test_a_credential_is_opened_for_its_own_server_and_owner_alone(vault: Vault, credential: Credential) -> None:
    credentials, server = ToolCredentials(vault), a_server(a_bot())
    sealed = credentials.seal(server.user_id, server.id, credential)
    fields: dict[str, Any] = {"sealed_credential": sealed, "credential_kind": credential.kind}
    owned = a_server(a_bot(server.user_id), **fields, id=server.id)
    assert credentials.open(owned) == credential
    stolen = (a_server(a_bot(server.user_id), **fields), a_server(a_bot(), **fields, id=server.id))
    for theirs in stolen:
        with pytest.raises(VaultUnavailable):
            credentials.open(theirs)


def test_a_server_without_a_credential_needs_no_vault() -> None:
    assert ToolCredentials(AbsentVault()).open(a_server(a_bot())) is None


def test_a_credential_is_never_printed() -> None:
    for credential in CREDENTIALS:
        assert "secret-token" not in repr(credential)


def test_a_credential_longer_than_kms_takes_is_refused_before_it_is_sent() -> None:
    bot = a_bot()
    credential = Credential(CredentialKind.BEARER, "x" * MAX_PLAINTEXT_BYTES)
    with pytest.raises(InvalidRequest) as raised:
        ToolCredentials(AbsentVault()).seal(UserId(bot.user_id), ToolServerId(bot.id), credential)
    assert raised.value.code == "credential_too_long"


def test_what_the_vault_gives_back_and_is_no_credential_is_not_quoted(tmp_path: Path) -> None:
    vault, server = LocalKeyVault(tmp_path / "key"), a_server(a_bot())
    context = {"server_id": str(server.id), "user_id": str(server.user_id)}
    for plaintext in (b"secret-token", b"{}", b'{"kind": "none", "secret": "secret-token"}', b"[]"):
        with pytest.raises(VaultUnavailable) as raised:
            ToolCredentials(vault).open(
                a_server(
                    a_bot(server.user_id),
                    id=server.id,
                    sealed_credential=vault.seal(plaintext, context=context),
                    credential_kind=CredentialKind.BEARER,
                )
            )
        assert raised.value.__cause__ is None
        assert raised.value.__suppress_context__
