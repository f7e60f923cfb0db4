"""Reading `template.yaml`: YAML with CloudFormation's short forms, as plain mappings."""

from collections.abc import Hashable, Mapping
from pathlib import Path
from typing import Any, cast

import yaml

Resource = Mapping[str, Any]


class _Loader(yaml.SafeLoader):
    """Reads ``!Ref x`` as ``{"Ref": x}`` and ``!Sub x`` as ``{"Fn::Sub": x}``."""


def _intrinsic(loader: yaml.SafeLoader, suffix: str, node: yaml.Node) -> dict[Hashable, Any]:
    value: object
    if isinstance(node, yaml.ScalarNode):
        value = loader.construct_scalar(node)
    elif isinstance(node, yaml.SequenceNode):
        value = loader.construct_sequence(node, deep=True)
    else:
        value = loader.construct_mapping(cast("yaml.MappingNode", node), deep=True)
    if suffix == "GetAtt" and isinstance(value, str):
        value = value.split(".", 1)
    return {suffix if suffix in {"Ref", "Condition"} else f"Fn::{suffix}": value}


_Loader.add_multi_constructor("!", _intrinsic)  # pyright: ignore[reportUnknownMemberType]


class Template:
    """A SAM template: its resources by logical id, with the properties that Globals give to functions."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.document: Mapping[str, Any] = yaml.load(path.read_text(), Loader=_Loader)  # noqa: S506 - a SafeLoader

    @property
    def resources(self) -> Mapping[str, Resource]:
        return self.document["Resources"]

    def of_type(self, kind: str) -> Mapping[str, Resource]:
        """Resources of one type, as ``AWS::SQS::Queue``."""
        return {name: resource for name, resource in self.resources.items() if resource["Type"] == kind}

    def functions(self) -> Mapping[str, Mapping[str, Any]]:
        """Every function's properties, merged with Globals one level deep and its variables in full."""
        shared: Mapping[str, Any] = self.document.get("Globals", {}).get("Function", {})
        merged: dict[str, Mapping[str, Any]] = {}
        for name, resource in self.of_type("AWS::Serverless::Function").items():
            own: Mapping[str, Any] = resource["Properties"]
            merged[name] = {**shared, **own, "Environment": {"Variables": {**_variables(shared), **_variables(own)}}}
        return merged


def _variables(properties: Mapping[str, Any]) -> Mapping[str, Any]:
    return properties.get("Environment", {}).get("Variables", {})
