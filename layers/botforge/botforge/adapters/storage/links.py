"""Presigned links to objects, signed without an S3 client.

A client would load S3's whole service model (see ``docs/retrieval.md`` for what that costs); botocore's signer needs
a URL and credentials alone. botocore itself is imported with the first link, not at init: most of it is in memory by
then wherever a secret was read from Secrets Manager.
"""

import os
from typing import TYPE_CHECKING
from urllib.parse import quote

from botforge.domain.answer import Link
from botforge.domain.errors import ObjectStoreUnavailable
from botforge.domain.ids import ObjectKey

if TYPE_CHECKING:
    from botocore.credentials import Credentials

EXPIRES_IN_S = 900


class S3Links:
    """Links over one bucket. They die with the credentials that signed them, which can be sooner than they say."""

    def __init__(self, bucket: str, *, expires_in: int = EXPIRES_IN_S) -> None:
        self._bucket = bucket
        self._expires_in = expires_in
        self._credentials: Credentials | None = None

    def link(self, key: ObjectKey) -> Link:
        from botocore.auth import S3SigV4QueryAuth
        from botocore.awsrequest import AWSRequest

        region = os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION") or "us-east-1"
        request = AWSRequest(method="GET", url=_address(self._bucket, region) + quote(str(key), safe="/~"))
        credentials = self._signing().get_frozen_credentials()
        S3SigV4QueryAuth(credentials, "s3", region, expires=self._expires_in).add_auth(request)
        return Link(str(request.url), self._expires_in)

    def _signing(self) -> "Credentials":
        """The function's role, by botocore's own chain: under SnapStart its keys are not in the environment."""
        if self._credentials is None:
            import botocore.session

            session = botocore.session.Session()
            # Instance metadata is for servers: here, looking for it would only keep the reader waiting.
            session.get_component("credential_provider").remove("iam-role")
            self._credentials = session.get_credentials()
        if self._credentials is None:
            raise ObjectStoreUnavailable("There are no credentials to sign links with.", code="links_unavailable")
        return self._credentials


def _address(bucket: str, region: str) -> str:
    """Virtual-hosted in the cloud; by path at an endpoint of one's own, as botocore does for IP addresses."""
    endpoint = os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL")
    if endpoint:
        return f"{endpoint.rstrip('/')}/{bucket}/"
    suffix = "amazonaws.com.cn" if region.startswith("cn-") else "amazonaws.com"
    return f"https://{bucket}.s3.{region}.{suffix}/"
