"""The suites, by name. A suite takes the product, a folder and a split, and returns figures as JSON."""

from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from botforge_dev.evaluation.product import Product
from botforge_dev.evaluation.suites import abstention, files, retrieval, routing, toolselect

Suite = Callable[[Product, Path, str], dict[str, Any]]

SUITES: Mapping[str, Suite] = MappingProxyType(
    {"abstention": abstention.run, "files": files.run, "retrieval": retrieval.run}
)

# These need no running product: they ask a part of it directly.
PartSuite = Callable[[Path, str, Callable[[str], None]], dict[str, Any]]

PARTS: Mapping[str, PartSuite] = MappingProxyType({"routing": routing.run, "toolselect": toolselect.run})
