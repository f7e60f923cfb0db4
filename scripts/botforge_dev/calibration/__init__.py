"""Where the constants of ranking, relevance and chunking come from: ``docs/retrieval.md`` has the figures."""
