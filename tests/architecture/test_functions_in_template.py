"""template.yaml against the functions: every one is there, bounded, observed, and serves what it is asked for."""

from collections.abc import Callable, Mapping
from typing import Any, Protocol

import pytest

from botforge_dev.build.layout import ROOT, RUNTIME
from botforge_dev.template import Template

_NAMES = sorted(path.parent.name for path in (ROOT / "functions").glob("*/app.py"))
_BEHIND_THE_GATEWAY = [name for name in _NAMES if name not in {"ingestion", "monitor"}]
_GATEWAY_TIMEOUT_S = 30  # Amazon API Gateway, "Quotas for HTTP APIs"


class _Served(Protocol):
    @property
    def routes(self) -> frozenset[tuple[str, str]]: ...


def _logical_id(name: str) -> str:
    return f"{name.capitalize()}Function"


def _events(function: Mapping[str, Any], kind: str) -> list[Mapping[str, Any]]:
    return [event["Properties"] for event in function["Events"].values() if event["Type"] == kind]


def _referred(value: object) -> str:
    """The logical id that a ``!Ref`` or ``!GetAtt`` names."""
    assert isinstance(value, dict), value
    (target,) = value.values()  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    return str(target[0] if isinstance(target, list) else target)  # pyright: ignore[reportUnknownArgumentType]


def test_the_template_has_exactly_the_functions_that_have_a_folder(template: Template) -> None:
    assert sorted(template.functions()) == sorted(_logical_id(name) for name in _NAMES)
    assert {function["CodeUri"] for function in template.functions().values()} == {
        f"functions/{name}" for name in _NAMES
    }


@pytest.mark.parametrize("name", _NAMES)
def test_a_function_is_bounded_observed_and_has_a_role_of_its_own(name: str, template: Template) -> None:
    function = template.functions()[_logical_id(name)]
    assert function["Handler"] == "app.handler"
    assert function["Runtime"] == f"python{RUNTIME}"
    assert function["MemorySize"] >= 256
    assert 0 < function["Timeout"] <= 900
    assert function["Tracing"] == "Active"
    assert _referred(function["Role"]) == f"{name.capitalize()}Role"
    logs = template.resources[_referred(function["LoggingConfig"]["LogGroup"])]
    assert logs["Properties"]["RetentionInDays"]
    assert function["Environment"]["Variables"]["POWERTOOLS_SERVICE_NAME"] == name


@pytest.mark.parametrize("name", _NAMES)
def test_a_function_raises_an_alarm_for_errors_throttles_and_time(name: str, template: Template) -> None:
    alarmed = {
        alarm["Properties"]["MetricName"]
        for alarm in template.of_type("AWS::CloudWatch::Alarm").values()
        if {"Name": "FunctionName", "Value": {"Ref": _logical_id(name)}} in alarm["Properties"]["Dimensions"]
    }
    assert alarmed == {"Errors", "Throttles", "Duration"}


@pytest.mark.parametrize("name", _BEHIND_THE_GATEWAY)
def test_a_function_behind_the_gateway_answers_before_the_gateway_gives_up(name: str, template: Template) -> None:
    function = template.functions()[_logical_id(name)]
    own_deadline = float(function["Environment"]["Variables"]["REQUEST_DEADLINE_SECONDS"])
    assert own_deadline == 25
    assert own_deadline < function["Timeout"] < _GATEWAY_TIMEOUT_S


@pytest.mark.parametrize("name", _NAMES)
def test_the_routes_of_the_template_are_those_that_the_function_serves(
    name: str, template: Template, initialise: Callable[[str, Mapping[str, str]], _Served]
) -> None:
    routes = {(event["Method"], event["Path"]) for event in _events(template.functions()[_logical_id(name)], "HttpApi")}
    assert routes == initialise(name, {}).routes


def test_routes_name_a_variable_alike_wherever_they_share_its_place(template: Template) -> None:
    """API Gateway refuses a second name for a variable of the same place in a path."""
    names: dict[str, set[str]] = {}
    for function in template.functions().values():
        for event in _events(function, "HttpApi"):
            place = ""
            for part in event["Path"].split("/"):
                if part.startswith("{"):
                    names.setdefault(place, set()).add(part)
                place += "/{}" if part.startswith("{") else f"/{part}"
    assert names
    assert {place: found for place, found in names.items() if len(found) > 1} == {}


def test_a_tool_server_that_keeps_failing_raises_an_alarm(template: Template) -> None:
    alarm = template.resources["ToolServersUnhealthy"]["Properties"]
    assert (alarm["Namespace"], alarm["MetricName"]) == ("BotForge", "ToolServers.unhealthy")
    assert alarm["Dimensions"] == [{"Name": "service", "Value": "monitor"}]
    assert alarm["AlarmActions"] == [{"Ref": "Alarms"}]


def test_only_health_answers_without_a_token(template: Template) -> None:
    api = template.resources["HttpApi"]["Properties"]
    assert api["Auth"]["DefaultAuthorizer"] in api["Auth"]["Authorizers"]
    open_routes = {
        event["Path"]
        for function in template.functions().values()
        for event in _events(function, "HttpApi")
        if event.get("Auth", {}).get("Authorizer") == "NONE"
    }
    assert open_routes == {"/health"}


def test_an_event_source_has_a_dead_letter_queue_and_partial_batches(template: Template) -> None:
    sources = [(function, source) for function in template.functions().values() for source in _events(function, "SQS")]
    assert len(sources) == 1
    for function, source in sources:
        assert source["FunctionResponseTypes"] == ["ReportBatchItemFailures"]
        assert source["BatchSize"] <= 10
        assert source["MaximumBatchingWindowInSeconds"] <= 1
        queue = template.resources[_referred(source["Queue"])]["Properties"]
        assert queue["VisibilityTimeout"] >= 6 * function["Timeout"]
        redrive = queue["RedrivePolicy"]
        assert redrive["maxReceiveCount"] >= 5
        assert str(redrive["maxReceiveCount"]) == function["Environment"]["Variables"]["MAX_RECEIVE_COUNT"]
        dead_letters = template.resources[_referred(redrive["deadLetterTargetArn"])]["Properties"]
        assert dead_letters["MessageRetentionPeriod"] == 14 * 24 * 3600


def test_two_runs_of_the_monitor_do_not_overlap(template: Template) -> None:
    monitor = template.functions()["MonitorFunction"]
    (schedule,) = _events(monitor, "Schedule")
    assert schedule["Schedule"] == "rate(5 minutes)"
    assert monitor["Timeout"] < 5 * 60


def test_snapshots_are_only_taken_of_published_versions_that_somebody_waits_for(template: Template) -> None:
    snapped = {name for name, function in template.functions().items() if "SnapStart" in function}
    assert snapped == {_logical_id(name) for name in _BEHIND_THE_GATEWAY}
    assert all(function["AutoPublishAlias"] for function in template.functions().values())
