"""Links to original documents, for readers who want to see where an answer is from."""

from typing import Protocol

from botforge.domain.answer import Link
from botforge.domain.ids import ObjectKey


class Links(Protocol):
    def link(self, key: ObjectKey) -> Link:
        """Where the document can be read, for some minutes, by whoever holds the link.

        Signing asks nobody, so a link to what is gone leads to the store's "no such key". Raises
        ObjectStoreUnavailable where there are no credentials to sign with.
        """
        ...
