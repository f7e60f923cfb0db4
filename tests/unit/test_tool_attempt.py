"""What is known of a request decides whether it may be sent again: it must never claim less than may have happened."""

import threading

import pytest

from botforge.adapters.tools.attempt import BROKEN_OFF, TOO_LARGE, Abandoned, Attempt
from botforge.domain.errors import Delivery


def test_nothing_was_sent_until_the_request_left() -> None:
    attempt = Attempt()
    attempt.begin("POST")
    assert attempt.delivery is Delivery.NOT_SENT

    attempt.sending()
    assert attempt.delivery is Delivery.UNKNOWN


def test_what_leads_to_the_request_is_not_the_request() -> None:
    attempt = Attempt()
    attempt.begin("POST", preliminary=True)
    attempt.sending()
    attempt.status, attempt.complete = 200, True

    assert attempt.delivery is Delivery.NOT_SENT
    assert attempt.error(BROKEN_OFF, delivery=Delivery.UNKNOWN).delivery is Delivery.NOT_SENT
    attempt.begin("POST")
    assert attempt.delivery is Delivery.NOT_SENT


def test_of_requests_beside_the_one_that_counts_none_says_anything() -> None:
    attempt = Attempt()
    attempt.begin("POST", containing=b"tools/call")

    assert attempt.takes("POST", b'{"method":"tools/call"}')
    assert not attempt.takes("GET", b"tools/call")
    assert not attempt.takes("POST", b'{"method":"notifications/initialized"}')
    attempt.begin("POST")
    assert attempt.takes("POST", b"")


def test_before_it_was_sent_nobody_knows_better() -> None:
    attempt = Attempt()
    attempt.begin("POST")

    assert attempt.error(BROKEN_OFF, delivery=Delivery.ANSWERED).delivery is Delivery.NOT_SENT


def test_after_the_caller_has_left_nothing_is_sent() -> None:
    attempt = Attempt()
    attempt.begin("POST")
    attempt.abandon()

    with pytest.raises(Abandoned):
        attempt.sending()
    assert attempt.delivery is Delivery.NOT_SENT


def test_leaving_and_sending_at_once_never_disagree() -> None:
    for _ in range(500):
        attempt = Attempt()
        attempt.begin("POST")
        together = threading.Barrier(2)
        left: list[bool] = []

        def send(attempt: Attempt = attempt, together: threading.Barrier = together, left: list[bool] = left) -> None:
            together.wait()
            try:
                attempt.sending()
            except Abandoned:
                return
            left.append(True)

        thread = threading.Thread(target=send)
        thread.start()
        together.wait()
        attempt.abandon()
        told = attempt.delivery
        thread.join()

        assert (told is Delivery.NOT_SENT) == (not left)


@pytest.mark.parametrize(
    ("status", "complete", "refused", "delivery"),
    [
        (None, False, False, Delivery.UNKNOWN),
        (200, False, False, Delivery.UNKNOWN),
        (200, True, False, Delivery.ANSWERED),
        (200, False, True, Delivery.ANSWERED),
        (404, False, False, Delivery.ANSWERED),
        (500, False, False, Delivery.ANSWERED),
        (502, True, False, Delivery.UNKNOWN),
        (504, True, False, Delivery.UNKNOWN),
    ],
)
def test_an_answer_is_known_by_its_status_and_its_end(
    status: int | None, complete: bool, refused: bool, delivery: Delivery
) -> None:
    attempt = Attempt()
    attempt.begin("POST")
    attempt.sending()
    attempt.status, attempt.complete = status, complete
    attempt.refused = TOO_LARGE if refused else None

    assert attempt.delivery is delivery
