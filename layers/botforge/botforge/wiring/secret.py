"""A secret from the environment, or from Secrets Manager where the environment only names it."""

from pydantic import SecretStr


def reveal(value: SecretStr | None, arn: str | None) -> str | None:
    """The secret; None if neither is set. Raises Unavailable when Secrets Manager does not answer."""
    if value is not None:
        return value.get_secret_value()
    if arn is None:
        return None
    from botforge.adapters.secrets.secrets_manager import read_secret

    return read_secret(arn)
