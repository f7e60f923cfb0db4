"""When a message that failed comes back.

The queue's visibility timeout must outlast the longest invocation, six times over, and so would keep a document
waiting for an hour after a fault of a second. A worker that knows that it failed says when to try again.
"""

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

_FIRST_S = 15
_FACTOR = 4
_LONGEST_S = 900


def pause_after(receive_count: int) -> int:
    """Seconds until the next delivery: 15, 60, 240, then 900."""
    return min(_LONGEST_S, _FIRST_S * _FACTOR ** (receive_count - 1))


class SqsRetries:
    """Sets the visibility of single messages. The client is made on the first failure: most environments see none."""

    def __init__(self, queue_url: str) -> None:
        self._queue_url = queue_url

    def again_after(self, receipt_handle: str, seconds: int) -> bool:
        """False if the queue did not take it: the message then comes back after the queue's own timeout."""
        config = Config(connect_timeout=2, read_timeout=3, retries={"total_max_attempts": 2, "mode": "standard"})
        try:
            # The stubs overload `client` for every service there is, and leave some of them untyped.
            client = boto3.client("sqs", config=config)  # pyright: ignore[reportUnknownMemberType]
            client.change_message_visibility(
                QueueUrl=self._queue_url, ReceiptHandle=receipt_handle, VisibilityTimeout=seconds
            )
        except (BotoCoreError, ClientError):
            return False
        return True
