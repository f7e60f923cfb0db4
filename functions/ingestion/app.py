"""S3 object created or removed → SQS → here."""

from botforge.wiring.ingestion import build

handler = build()
