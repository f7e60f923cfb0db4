"""The faulty tool server of other tests does what it is told."""

import httpx2
import pytest
from tests.fakes.tool_servers import DIES_MID_ANSWER, RESET, SERVER_ERROR, Effect, ToolServer, tool_server


@pytest.fixture
def client() -> httpx2.Client:
    return httpx2.Client(trust_env=False, verify=False, timeout=10)


def execute(
    client: httpx2.Client, server: ToolServer, tool: str, key: str | None = None, **parameters: object
) -> dict[str, object]:
    headers = {"Idempotency-Key": key} if key else {}
    body = {"tool_name": tool, "parameters": parameters}
    return client.post(server.url + "/execute", json=body, headers=headers).raise_for_status().json()


def test_it_lists_its_tools_and_runs_them(client: httpx2.Client) -> None:
    with client, tool_server("/base") as server:
        listed = client.get(server.url + "/capabilities").json()
        answer = execute(client, server, "add", a=2, b=5)

    assert [tool["name"] for tool in listed["tools"]] == list(server.tools)
    assert answer == {"success": True, "result": {"sum": 7}, "error": None}
    assert server.effects == [Effect("add", {"a": 2, "b": 5}, None)]


def test_a_fault_may_come_before_the_effect_or_after_it(client: httpx2.Client) -> None:
    with client, tool_server() as server:
        server.fail(RESET, DIES_MID_ANSWER)
        server.fail(SERVER_ERROR, acted=True)
        for error in (httpx2.ReadError, httpx2.RemoteProtocolError, httpx2.HTTPStatusError):
            with pytest.raises(error):
                execute(client, server, "pay", amount=1)
        execute(client, server, "pay", amount=2)

    assert [effect.parameters["amount"] for effect in server.effects] == [1, 2]


def test_a_key_that_comes_again_does_nothing_more(client: httpx2.Client) -> None:
    with client, tool_server() as server:
        server.fail(RESET, acted=True)
        with pytest.raises(httpx2.ReadError):
            execute(client, server, "pay", key="k", amount=1)
        again = execute(client, server, "pay", key="k", amount=1)

    assert again["result"] == {"paid": 1}
    assert len(server.effects) == 1
