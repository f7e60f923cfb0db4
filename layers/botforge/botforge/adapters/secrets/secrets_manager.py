"""AWS Secrets Manager. Importing boto3 costs a cold start some 200 ms: only functions with a secret do so."""

# The stubs overload `client` for every service, and type those that are not installed as unknown.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from botforge.domain.errors import Unavailable


def read_secret(arn: str) -> str:
    """The secret's string. Raises Unavailable; the secret's value is in no message."""
    config = Config(connect_timeout=2, read_timeout=3, retries={"max_attempts": 2, "mode": "standard"})
    try:
        value: str | None = (
            boto3.client("secretsmanager", config=config).get_secret_value(SecretId=arn).get("SecretString")
        )
    except (BotoCoreError, ClientError) as error:
        raise Unavailable("A secret could not be read.", code="secret_unavailable") from error
    if not value:
        raise Unavailable("A secret holds no string.", code="secret_unavailable")
    return value
