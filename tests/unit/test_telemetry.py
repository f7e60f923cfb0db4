"""Metrics in CloudWatch's embedded format, and what an invocation leaves on stdout."""

import json
import os
import re
import subprocess
import sys
import time
from datetime import UTC, datetime
from typing import Any, cast
from uuid import UUID

import pytest

from botforge.domain.answer import Usage
from botforge.domain.ids import BotId, DocumentId, UserId
from botforge.domain.ingestion import IngestionResult, Outcome
from botforge.domain.query import Intent, ProcessingType, Query, QueryRecord, QueryStatus
from botforge.services.monitoring import MonitoringResult
from botforge.telemetry import record_ingestion, record_monitoring, record_query
from botforge.telemetry.measures import count, flush, measure

Json = dict[str, Any]

IDS = [UUID(int=number) for number in range(1, 5)]
QUESTION = "What is grandmother's recipe?"
# CloudWatch API Reference, "MetricDatum": the units.
_RATES = ("", "/Second")
_PREFIXES = ("", "Kilo", "Mega", "Giga", "Tera")
UNITS = {
    "Seconds", "Microseconds", "Milliseconds", "Percent", "Count", "Count/Second", "None",
    *(f"{prefix}{unit}".capitalize() + rate for prefix in _PREFIXES for unit in ("bytes", "bits") for rate in _RATES),
}  # fmt: skip


@pytest.fixture(autouse=True)
def _nothing_measured_before(capsys: pytest.CaptureFixture[str]) -> None:
    flush(cold_start=False)
    capsys.readouterr()


def flushed(capsys: pytest.CaptureFixture[str], *, cold_start: bool = False) -> Json:
    flush(cold_start=cold_start)
    lines = [line for line in capsys.readouterr().out.splitlines() if '"_aws"' in line]
    assert len(lines) == 1
    return checked_emf(lines[0])


def checked_emf(line: str) -> Json:
    """Judge a line by "Specification: Embedded metric format" (Amazon CloudWatch User Guide), and return it."""
    document: Json = json.loads(line, parse_constant=lambda constant: pytest.fail(f"{constant} is not JSON"))
    metadata = document["_aws"]
    assert abs(metadata["Timestamp"] - time.time() * 1000) < 3_600_000
    assert metadata["CloudWatchMetrics"]
    for directive in metadata["CloudWatchMetrics"]:
        assert re.fullmatch(r"[A-Za-z0-9._/#:-]{1,256}", directive["Namespace"])
        assert directive["Dimensions"]
        for dimensions in directive["Dimensions"]:
            assert len(dimensions) <= 30
            for name in dimensions:
                assert 1 <= len(name) <= 250
                assert isinstance(document[name], str)
                assert 1 <= len(document[name]) <= 1_024
        assert 1 <= len(directive["Metrics"]) <= 100
        for metric in directive["Metrics"]:
            assert 1 <= len(metric["Name"]) <= 1_024
            assert metric["Unit"] in UNITS
            assert metric.get("StorageResolution", 60) in {1, 60}
            values = document[metric["Name"]]
            numbers: list[object] = cast("list[object]", values) if isinstance(values, list) else [values]
            assert 1 <= len(numbers) <= 100
            assert all(isinstance(number, int | float) for number in numbers)
    return document


def query_record(**changes: Any) -> QueryRecord:  # noqa: ANN401
    query = Query(IDS[0], UserId(IDS[1]), BotId(IDS[2]), "client", QUESTION)
    given: Json = {
        "intent": Intent.INFORMATION_RETRIEVAL,
        "processing_type": ProcessingType.RAG,
        "status": QueryStatus.ANSWERED,
        "latency_ms": 12.5,
        "stage_ms": {"embed": 2.5, "retrieve": 5.0},
        "best_relevance": 0.75,
        "sources": 2,
        "usage": Usage(10, 20),
        **changes,
    }
    return QueryRecord(query, **given)


# ---------------------------------------------------------------- metrics


def test_a_query_is_measured_by_stage(capsys: pytest.CaptureFixture[str]) -> None:
    record_query(query_record())

    document = flushed(capsys)

    assert document["QueryLatency"] == [12.5]
    assert document["QueryLatency.embed"] == [2.5]
    assert document["QueryLatency.retrieve"] == [5.0]
    assert document["Relevance"] == [0.75]
    assert document["Abstentions"] == document["DegradedAnswers"] == document["Queries.failed"] == [0]


@pytest.mark.parametrize(
    ("changes", "metric"),
    [
        ({"status": QueryStatus.ABSTAINED}, "Abstentions"),
        ({"status": QueryStatus.FAILED}, "Queries.failed"),
        ({"degraded": {"llm": "llm_timeout"}}, "DegradedAnswers"),
        ({"degraded": {"llm": "llm_timeout"}}, "DegradedAnswers.llm"),
    ],
)
def test_a_query_that_went_otherwise_is_counted(capsys: pytest.CaptureFixture[str], changes: Json, metric: str) -> None:
    record_query(query_record(**changes))

    assert flushed(capsys)[metric] == [1]


def test_a_query_that_found_no_candidates_has_no_relevance(capsys: pytest.CaptureFixture[str]) -> None:
    record_query(query_record(best_relevance=None))

    assert "Relevance" not in flushed(capsys)


@pytest.mark.parametrize("outcome", list(Outcome))
def test_documents_are_counted_by_outcome(capsys: pytest.CaptureFixture[str], outcome: Outcome) -> None:
    record_ingestion(IngestionResult(outcome, chunks=7, truncated=1, lag_seconds=3.5))

    document = flushed(capsys)

    assert document[f"Documents.{outcome}"] == [1]
    assert document[f"Chunks.{outcome}"] == [7]
    assert document["TruncatedChunks"] == [1]
    assert document["IngestionLag"] == [3.5]


def test_a_batch_of_documents_is_one_object(capsys: pytest.CaptureFixture[str]) -> None:
    for number in range(10):
        record_ingestion(IngestionResult(Outcome.INDEXED, chunks=number))

    assert flushed(capsys)["Chunks.indexed"] == list(range(10))


def test_a_clock_that_runs_ahead_gives_no_negative_lag(capsys: pytest.CaptureFixture[str]) -> None:
    record_ingestion(IngestionResult(Outcome.INDEXED, lag_seconds=-0.5))

    assert flushed(capsys)["IngestionLag"] == [0]


def test_a_round_of_the_monitor_is_measured(capsys: pytest.CaptureFixture[str]) -> None:
    record_monitoring(MonitoringResult(1, 2, 3, 4, 5, 6, 7))

    document = flushed(capsys)

    assert document["Monitoring.claims_expired"] == [1]
    assert document["Monitoring.executions_expired"] == [4]
    assert document["Monitoring.purges_failed"] == [6]


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_a_value_that_json_cannot_hold_is_left_out(capsys: pytest.CaptureFixture[str], value: float) -> None:
    record_query(query_record(best_relevance=value))

    assert "Relevance" not in flushed(capsys)


def test_dimensions_are_the_service_and_the_cold_start_and_hold_no_id(capsys: pytest.CaptureFixture[str]) -> None:
    record_query(query_record())
    record_ingestion(IngestionResult(Outcome.INDEXED, document_id=DocumentId(IDS[3]), correlation_id="request-1"))

    document = flushed(capsys, cold_start=True)

    assert document["_aws"]["CloudWatchMetrics"][0]["Dimensions"] == [["service"], ["service", "cold_start"]]
    assert (document["service"], document["cold_start"]) == ("botforge", "true")
    assert document["ColdStart"] == [1]
    assert not any(str(value) in json.dumps(document) for value in [*IDS, "request-1"])


def test_what_was_flushed_is_not_flushed_again(capsys: pytest.CaptureFixture[str]) -> None:
    count("Once")
    assert flushed(capsys)["Once"] == [1]

    document = flushed(capsys)

    assert "Once" not in document
    assert document["ColdStart"] == [0]


def test_more_than_a_hundred_metrics_become_several_valid_objects(capsys: pytest.CaptureFixture[str]) -> None:
    for number in range(150):
        count(f"Metric.{number}")
        count("Often")
    flush(cold_start=False)

    documents = [checked_emf(line) for line in capsys.readouterr().out.splitlines()]

    assert sum(len(document.get("Often", [])) for document in documents) == 150
    assert all(any(f"Metric.{number}" in document for document in documents) for number in range(150))


def test_a_metric_without_a_number_is_a_programming_error() -> None:
    with pytest.raises(TypeError):
        measure("Name", "Count", "1")  # type: ignore[arg-type]


# ---------------------------------------------------------------- an invocation, in a process of its own

SCRIPT = """
import logging, sys
from types import SimpleNamespace
from botforge.domain.ingestion import IngestionResult, Outcome
from botforge.telemetry import InvocationFailed, instrumented, log_failed_message, logger, record_ingestion

def handler(event, context):
    logger.info("inside")
    logging.getLogger("botforge.adapters.cache.redis").warning("from an adapter")
    logging.getLogger("some.library").warning("from a library: Bearer abcdefghijkl")
    record_ingestion(IngestionResult(Outcome.INDEXED, correlation_id="document-1"))
    log_failed_message(SimpleNamespace(id="m-1", receive_count=2), ValueError(f"'{event['text']}'"))
    if event.get("fail"):
        raise ValueError(f"'{event['text']}'")
    return "done"

context = SimpleNamespace(
    function_name="f", memory_limit_in_mb=128, invoked_function_arn="arn", aws_request_id="lambda-1", tenant_id=None
)
wrapped = instrumented(handler)
assert wrapped({"requestContext": {"requestId": "gateway-1"}, "text": "a text"}, context) == "done"
assert wrapped({"requestContext": {"requestId": "two words"}, "text": "a text"}, context) == "done"
try:
    wrapped({"fail": True, "requestContext": None, "text": "a text"}, context)
except InvocationFailed as error:
    assert str(error) == "ValueError"
    assert error.__cause__ is None and error.__suppress_context__
else:
    sys.exit("it did not raise")
for module in ("aws_xray_sdk", "boto3", "botocore.session", "fastapi", "pydantic", "httpx", "botforge.services"):
    assert module not in sys.modules, module
"""


@pytest.fixture(scope="module")
def output() -> list[Json]:
    environment = {
        **os.environ,
        "AWS_LAMBDA_RUNTIME_API": "127.0.0.1:9",
        "POWERTOOLS_SERVICE_NAME": "ingestion",
        "POWERTOOLS_METRICS_NAMESPACE": "Test",
        "POWERTOOLS_LOGGER_LOG_EVENT": "true",  # must not have its way: an event holds questions
        "LOG_LEVEL": "INFO",
    }
    ran = subprocess.run(  # noqa: S603 - the script above
        [sys.executable, "-W", "error", "-c", SCRIPT], capture_output=True, text=True, check=False, env=environment
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    return [json.loads(line) for line in ran.stdout.splitlines()]


def test_every_line_is_written_once(output: list[Json]) -> None:
    messages = [line.get("message", "metrics") for line in output]

    invocation = ["inside", "from an adapter", "from a library: Bearer ***", "document", "message failed"]
    assert messages == [*invocation, "metrics", *invocation, "metrics", *invocation, "unforeseen", "metrics"]


def test_every_line_names_service_request_and_moment(output: list[Json]) -> None:
    for line in output:
        if "message" in line:
            assert line["service"] == "ingestion"
            assert line["function_request_id"] == "lambda-1"
            assert datetime.fromisoformat(line["timestamp"]).tzinfo == UTC


def test_one_correlation_id_joins_the_lines_of_an_invocation(output: list[Json]) -> None:
    ids = [
        line["correlation_id"]
        for line in output
        if line.get("message", "document") != "document" and "_aws" not in line
    ]

    assert ids == ["gateway-1"] * 4 + ["lambda-1"] * 4 + ["lambda-1"] * 5


def test_a_document_s_line_bears_the_id_it_was_uploaded_with(output: list[Json]) -> None:
    assert {line["correlation_id"] for line in output if line.get("message") == "document"} == {"document-1"}


def test_no_text_of_an_event_or_an_exception_is_written(output: list[Json]) -> None:
    assert "a text" not in json.dumps(output)


def test_metrics_are_written_after_every_invocation_that_failed_too(output: list[Json]) -> None:
    metrics = [checked_emf(json.dumps(line)) for line in output if "_aws" in line]

    assert [document["cold_start"] for document in metrics] == ["true", "false", "false"]
    assert [document["ColdStart"] for document in metrics] == [[1], [0], [0]]
    assert [document.get("UnforeseenErrors") for document in metrics] == [None, None, [1]]
    assert all(document["FailedMessages"] == [1] for document in metrics)
    assert {document["_aws"]["CloudWatchMetrics"][0]["Namespace"] for document in metrics} == {"Test"}
