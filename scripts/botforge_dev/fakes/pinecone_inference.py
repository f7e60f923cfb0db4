"""Pinecone's ``POST /rerank``, strict about what it takes ("Rerank results", "Models", API reference of 2026-07).

Its score is the share of the question's words that a document holds: no model, but an order that tests can foretell.
"""

import re
import threading
from collections import deque
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from botforge_dev.fakes.loopback import Answer, Fault, Request, Respond, serve
from botforge_dev.fakes.pinecone_request import Json, Refused, parsed
from botforge_dev.fakes.pinecone_server import API_KEY, check_headers

MODELS = {"bge-reranker-v2-m3": 100, "pinecone-rerank-v0": 100, "cohere-rerank-3.5": 200}  # and their most documents
MAX_TOKENS = 1_024  # of a question with a document; counted in words here, which are fewer
_FIELDS = ("model", "query", "documents", "rank_fields", "return_documents", "top_n", "parameters")


@dataclass(slots=True)
class PineconeInference:
    """``faults`` answer the next requests, whatever they ask. ``received`` holds every request, in order."""

    api_key: str
    url: str = ""
    faults: deque[Respond | Fault] = field(default_factory=deque[Respond | Fault])
    received: list[Request] = field(default_factory=list[Request])
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def fail(self, *faults: Respond | Fault) -> None:
        with self._lock:
            self.faults.extend(faults)

    def handle(self, request: Request) -> Answer:
        with self._lock:
            self.received.append(request)
            if self.faults:
                return self.faults.popleft()
        try:
            return Respond(200, self._answer(request))
        except Refused as error:
            status = {3: "INVALID_ARGUMENT", 5: "NOT_FOUND", 16: "UNAUTHENTICATED"}.get(error.code, "UNKNOWN")
            return Respond(error.status, {"error": {"code": status, "message": str(error)}, "status": error.status})

    def _answer(self, request: Request) -> Json:
        check_headers(request, self.api_key)
        if (request.method, request.path) != ("POST", "/rerank"):
            raise Refused("Not found.", status=404, code=5)
        body = parsed(request.body, _FIELDS)
        question, texts = _checked(body)
        words = _words(question)
        scored = [(len(words & _words(text)) / len(words), place) for place, text in enumerate(texts)]
        scored.sort(key=lambda one: (-one[0], one[1]))
        data = [{"index": place, "score": score} for score, place in scored][: body.get("top_n", len(texts))]
        return {"model": body["model"], "data": data, "usage": {"rerank_units": 1}}


def _checked(body: Json) -> tuple[str, list[str]]:
    model, question, documents = body.get("model"), body.get("query"), body.get("documents")
    if model not in MODELS:
        raise Refused(f"Model '{model}' not found.", status=404, code=5)
    if not isinstance(question, str) or not _words(question):
        raise Refused("'query' is a text.")
    given: list[Any] = documents if isinstance(documents, list) else []  # pyright: ignore[reportUnknownVariableType]
    if not 1 <= len(given) <= MODELS[model]:
        raise Refused(f"'{model}' takes 1 to {MODELS[model]} documents, not {len(given)}.")
    if body.get("rank_fields", ["text"]) != ["text"]:
        raise Refused("This stand-in ranks by 'text' alone.")
    texts = [_text(document) for document in given]
    if body.get("parameters", {}).get("truncate", "NONE") != "END":
        for text in texts:
            if len(question.split()) + len(text.split()) > MAX_TOKENS:
                raise Refused(f"Request contains a query document pair which exceeds the {MAX_TOKENS} token limit")
    return question, texts


def _text(document: Any) -> str:  # noqa: ANN401 - any JSON
    fields: Json = document if isinstance(document, dict) else {}  # pyright: ignore[reportUnknownVariableType] - JSON
    text = fields.get("text")
    if not isinstance(text, str) or not text:
        raise Refused("Each document has a 'text'.")
    return text


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.casefold()))


@contextmanager
def pinecone_inference(*, api_key: str = API_KEY) -> Generator[PineconeInference]:
    server = PineconeInference(api_key)
    with serve(server.handle) as url:
        server.url = url
        yield server
