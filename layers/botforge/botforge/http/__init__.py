"""HTTP at the edge: FastAPI behind API Gateway's HTTP API, problem documents, and nothing of adapters or settings."""
