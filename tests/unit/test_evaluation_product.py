"""The evaluation's client, against an API that answers from a list."""

from collections.abc import Callable

import httpx
import pytest

from botforge_dev.evaluation.product import Document, Product, ProductError

BOT = "9a3c0c8e-5f4e-4a53-9d7e-0d8f4d1f7a10"


def product_over(answer: Callable[[httpx.Request], httpx.Response]) -> Product:
    api = httpx.Client(base_url="http://product.invalid", transport=httpx.MockTransport(answer))
    return Product(api, "user", None, lambda _line: None)


def test_documents_are_awaited_over_all_pages_and_named_by_their_files() -> None:
    uploaded: list[bytes] = []

    def answer(request: httpx.Request) -> httpx.Response:
        if request.method == "POST":
            uploaded.append(request.read())
            return httpx.Response(202, json={})
        first = "cursor" not in request.url.params
        item = {"path": "a.txt" if first else "b.txt", "status": "indexed" if first else "failed"}
        return httpx.Response(200, json={"items": [item], "next_cursor": "more" if first else None})

    read = product_over(answer).ingest(BOT, [Document("a.txt", b"one"), Document("b.txt", b"two")])
    assert {name: item["status"] for name, item in read.items()} == {"a.txt": "indexed", "b.txt": "failed"}
    assert sorted(b"two" in body for body in uploaded) == [False, True]


def test_a_documents_text_is_its_passages_in_order() -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        page = int(request.url.params.get("cursor", "0"))
        following = None if page == 2 else str(page + 1)
        return httpx.Response(200, json={"items": [{"text": f"part {page}"}], "next_cursor": following})

    assert product_over(answer).text_of(BOT, "document") == "part 0\npart 1\npart 2"


def test_a_refusal_is_an_error_that_says_what_the_product_said() -> None:
    product = product_over(lambda _request: httpx.Response(404, json={"code": "bot_not_found"}))
    with pytest.raises(ProductError, match=r"POST /vector/query answered 404.*bot_not_found"):
        product.query(BOT, "Why?", max_chunks=5, threshold=0)


def test_results_keep_the_order_of_what_was_asked() -> None:
    product = product_over(lambda _request: httpx.Response(500))
    assert product.each(lambda number: number * number, list(range(25))) == [n * n for n in range(25)]
