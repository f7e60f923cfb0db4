"""/upload: documents and namespaces."""

from botforge.wiring.documents import build

handler = build()
