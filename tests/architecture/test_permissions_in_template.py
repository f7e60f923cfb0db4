"""template.yaml: who may do what."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from botforge_dev.template import Template

# Secrets and stores that a function's role may reach, by the logical id or parameter that its policies name.
_REACH = {
    "QueryRole": {
        "DatabaseTenantSecretArn",
        "PineconeSecretArn",
        "OpenAiSecretArn",
        "DocumentsBucket",
        "ToolCredentialsKey",
    },
    "DocumentsRole": {"DatabaseTenantSecretArn", "DocumentsBucket"},
    "RegistryRole": {"DatabaseTenantSecretArn", "ToolCredentialsKey"},
    "HealthRole": {"DatabaseTenantSecretArn", "PineconeSecretArn"},
    "IngestionRole": {"DatabaseTenantSecretArn", "PineconeSecretArn", "DocumentsBucket", "IngestionQueue"},
    "MonitorRole": {"DatabaseWorkerSecretArn", "PineconeSecretArn", "DocumentsBucket", "ToolCredentialsKey"},
}
_DATA = frozenset(name for reach in _REACH.values() for name in reach)


def _statements(value: object) -> Iterator[Mapping[str, Any]]:
    """Every policy statement below ``value``, also those that stand in a condition."""
    if isinstance(value, dict):
        if "Effect" in value:
            yield value
        else:
            for inner in value.values():  # pyright: ignore[reportUnknownVariableType]
                yield from _statements(inner)  # pyright: ignore[reportUnknownArgumentType]
    elif isinstance(value, list):
        for inner in value:  # pyright: ignore[reportUnknownVariableType]
            yield from _statements(inner)  # pyright: ignore[reportUnknownArgumentType]


def _allowed(template: Template, role: str) -> list[Mapping[str, Any]]:
    properties = template.resources[role]["Properties"]
    shared = [
        template.resources[name]["Properties"]["PolicyDocument"]
        for name in ("TenantDatabaseAccess", "PineconeAccess", "ToolCredentialsAccess")
        if json.dumps({"Ref": name}) in json.dumps(properties["ManagedPolicyArns"])
    ]
    return list(_statements([properties["Policies"], shared]))


@pytest.mark.parametrize("role", sorted(_REACH))
def test_a_role_reaches_what_its_function_uses_and_no_more(role: str, template: Template) -> None:
    resources = json.dumps([statement["Resource"] for statement in _allowed(template, role)])
    assert {name for name in _DATA if name in resources} == _REACH[role]


@pytest.mark.parametrize("role", sorted(_REACH))
def test_a_role_has_no_wildcard(role: str, template: Template) -> None:
    for statement in _allowed(template, role):
        assert "*" not in json.dumps(statement["Action"])
        assert statement["Resource"] != "*"


def test_every_role_is_accounted_for(template: Template) -> None:
    assert set(template.of_type("AWS::IAM::Role")) == set(_REACH)


def test_only_the_monitor_may_destroy_old_versions_of_a_document(template: Template) -> None:
    may = {
        role
        for role in _REACH
        if any("s3:DeleteObjectVersion" in statement["Action"] for statement in _allowed(template, role))
    }
    assert may == {"MonitorRole"}


def _on_credentials(template: Template, role: str) -> dict[str, Mapping[str, Any]]:
    """Action on the key of the tool servers' credentials → its condition."""
    return {
        statement["Action"]: statement["Condition"]
        for statement in _allowed(template, role)
        if "ToolCredentialsKey" in json.dumps(statement["Resource"])
    }


def test_only_the_registry_may_seal_a_credential_and_all_who_call_servers_may_open_it(template: Template) -> None:
    actions = {role: set(_on_credentials(template, role)) for role in _REACH}
    assert {role: found for role, found in actions.items() if found} == {
        "QueryRole": {"kms:Decrypt"},
        "MonitorRole": {"kms:Decrypt"},
        "RegistryRole": {"kms:Decrypt", "kms:Encrypt"},
    }


@pytest.mark.parametrize("role", ["QueryRole", "MonitorRole", "RegistryRole"])
def test_a_credential_is_only_touched_together_with_its_server_and_its_owner(role: str, template: Template) -> None:
    for condition in _on_credentials(template, role).values():
        assert condition == {
            "Null": {"kms:EncryptionContext:server_id": "false", "kms:EncryptionContext:user_id": "false"}
        }


def test_the_credentials_key_turns_and_outlives_the_stack(template: Template) -> None:
    key = template.resources["ToolCredentialsKey"]
    assert key["Properties"]["EnableKeyRotation"] is True
    assert (key["DeletionPolicy"], key["UpdateReplacePolicy"]) == ("Retain", "Retain")


def test_the_queue_takes_messages_from_this_stacks_bucket_alone(template: Template) -> None:
    (statement,) = _statements(template.resources["IngestionQueuePolicy"]["Properties"]["PolicyDocument"])
    assert statement["Principal"] == {"Service": "s3.amazonaws.com"}
    source = statement["Condition"]["ArnEquals"]["aws:SourceArn"]["Fn::Sub"]
    name = template.resources["DocumentsBucket"]["Properties"]["BucketName"]["Fn::Sub"]
    assert source == [f"arn:${{AWS::Partition}}:s3:::{name[0]}", name[1]]
    assert statement["Condition"]["StringEquals"] == {"aws:SourceAccount": {"Ref": "AWS::AccountId"}}


def test_the_bucket_is_private_encrypted_versioned_and_kept(template: Template) -> None:
    bucket = template.resources["DocumentsBucket"]
    properties = bucket["Properties"]
    assert set(properties["PublicAccessBlockConfiguration"].values()) == {True}
    assert properties["VersioningConfiguration"] == {"Status": "Enabled"}
    assert properties["BucketEncryption"]
    assert (bucket["DeletionPolicy"], bucket["UpdateReplacePolicy"]) == ("Retain", "Retain")
    (denied,) = _statements(template.resources["DocumentsBucketPolicy"]["Properties"]["PolicyDocument"])
    assert (denied["Effect"], denied["Condition"]) == ("Deny", {"Bool": {"aws:SecureTransport": "false"}})


def test_the_bucket_tells_the_queue_of_objects_that_come_and_go(template: Template) -> None:
    notified = template.resources["DocumentsBucket"]["Properties"]["NotificationConfiguration"]["QueueConfigurations"]
    assert {entry["Event"] for entry in notified} == {"s3:ObjectCreated:*", "s3:ObjectRemoved:*"}
    assert {json.dumps(entry["Queue"]) for entry in notified} == {json.dumps({"Fn::GetAtt": ["IngestionQueue", "Arn"]})}
    assert template.resources["DocumentsBucket"]["DependsOn"] == "IngestionQueuePolicy"
