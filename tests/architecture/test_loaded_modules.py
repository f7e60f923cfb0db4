"""Nobody pays for an import they don't need: what each function has in memory once it is ready."""

from collections.abc import Callable, Mapping
from typing import Protocol

import pytest

_HEAVY = frozenset(
    {
        "boto3",
        "docx",
        "fastapi",
        "httpx",
        "lxml",
        "mangum",
        "mcp",
        "numpy",
        "onnxruntime",
        "openai",
        "pinecone",
        "psycopg",
        "pypdfium2",
        "redis",
        "tokenizers",
    }
)
_WEB = frozenset({"fastapi", "mangum", "psycopg"})
_EMBEDDING = frozenset({"numpy", "onnxruntime", "tokenizers"})

_EXPECTED = {
    "query": _WEB | _EMBEDDING,
    "documents": _WEB | {"boto3"},
    "registry": _WEB,
    "health": _WEB,
    "ingestion": {"psycopg", "boto3"} | _EMBEDDING,
    "monitor": {"psycopg", "boto3"},
}

_PINECONE = {"VECTOR_BACKEND": "pinecone", "PINECONE_HOST": "http://127.0.0.1:1", "PINECONE_API_KEY": "none"}
_OPENAI = {"OPENAI_API_KEY": "none", "OPENAI_BASE_URL": "http://127.0.0.1:1"}


class _Initialised(Protocol):
    @property
    def modules(self) -> frozenset[str]: ...


_Initialise = Callable[[str, Mapping[str, str]], _Initialised]


@pytest.mark.parametrize("name", sorted(_EXPECTED))
def test_a_function_has_loaded_exactly_what_it_works_with(name: str, initialise: _Initialise) -> None:
    assert initialise(name, {}).modules & _HEAVY == _EXPECTED[name]


@pytest.mark.parametrize("name", ["ingestion", "monitor"])
def test_a_function_without_http_has_no_web_framework(name: str, initialise: _Initialise) -> None:
    assert not initialise(name, {}).modules & {"fastapi", "starlette", "mangum", "uvicorn"}


@pytest.mark.parametrize("name", ["query", "documents", "registry", "health"])
def test_a_function_behind_the_gateway_never_loads_a_document_reader(name: str, initialise: _Initialise) -> None:
    assert not initialise(name, {}).modules & {"docx", "lxml", "pypdfium2"}


@pytest.mark.parametrize("name", ["documents", "registry", "health"])
def test_choosing_pinecone_and_an_llm_costs_only_those_that_use_them(name: str, initialise: _Initialise) -> None:
    assert initialise(name, {**_PINECONE, **_OPENAI}).modules & _HEAVY == _EXPECTED[name]


def test_query_pays_for_redis_when_it_is_chosen(initialise: _Initialise) -> None:
    loaded = initialise("query", {"REDIS_URL": "redis://127.0.0.1:1"}).modules
    assert loaded & _HEAVY == _EXPECTED["query"] | {"redis"}


def test_query_pays_for_pinecone_and_an_llm_when_they_are_chosen(initialise: _Initialise) -> None:
    loaded = initialise("query", {**_PINECONE, **_OPENAI}).modules
    assert loaded & _HEAVY == _EXPECTED["query"] | {"pinecone", "httpx", "openai"}
