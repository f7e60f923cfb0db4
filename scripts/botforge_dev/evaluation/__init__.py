"""``./scripts/evaluate``: figures over labelled data, through the product's own ingestion and HTTP API."""
