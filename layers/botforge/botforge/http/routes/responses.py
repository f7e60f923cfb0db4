"""What every route may answer besides its own reply."""

from typing import Any

from botforge.http.problems import MEDIA_TYPE
from botforge.http.schemas.fields import Problem

_DESCRIPTIONS = {
    400: "The request could not be read.",
    404: "Unknown, or another tenant's.",
    409: "It contradicts what is stored.",
    413: "The body or the file is too large.",
    415: "A format that is not read.",
    422: "A field is wrong; `errors` lists them.",
    503: "A dependency does not answer; try again.",
}

PROBLEMS: dict[int | str, dict[str, Any]] = {
    status: {
        "description": description,
        "content": {MEDIA_TYPE: {"schema": {"$ref": f"#/components/schemas/{Problem.__name__}"}}},
    }
    for status, description in _DESCRIPTIONS.items()
}
