"""A secret from the environment, or from Secrets Manager where the environment only names it."""

from pydantic import SecretStr

from botforge.telemetry import conceal


def reveal(value: SecretStr | None, arn: str | None) -> str | None:
    """The secret, which no log line will show from now on; None if neither is set.

    Raises Unavailable when Secrets Manager does not answer.
    """
    if value is not None:
        secret = value.get_secret_value()
    elif arn is not None:
        from botforge.adapters.secrets.secrets_manager import read_secret

        secret = read_secret(arn)
    else:
        return None
    conceal(secret)
    return secret
