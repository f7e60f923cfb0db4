"""The protocol's own conformance suite against our client: the scenarios of a client of tools over HTTP."""

import subprocess
import sys
from pathlib import Path
from typing import Protocol

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

HERE = Path(__file__).parent


class NodeServers(Protocol):
    @property
    def node(self) -> Path: ...
    @property
    def conformance(self) -> Path: ...


@pytest.mark.parametrize("scenario", ["initialize", "tools_call", "sse-retry"])
def test_a_scenario_of_the_conformance_suite_passes(
    node_servers: NodeServers, alone: list[str], scenario: str, tmp_path: Path
) -> None:
    client = f"{sys.executable} {HERE / 'conformance_client.py'}"
    suite = [str(node_servers.node), str(node_servers.conformance), "client", "--scenario", scenario]

    done = subprocess.run(  # noqa: S603 - our own command
        [*alone, *suite, "--command", client], cwd=tmp_path, capture_output=True, text=True, check=False
    )

    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 failed" in done.stdout + done.stderr, done.stdout + done.stderr
