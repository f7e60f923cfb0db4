"""Values in PostgreSQL's text forms."""

from botforge.ports.embedding import Vector


def literal(vector: Vector) -> str:
    """pgvector's text form."""
    return "[" + ",".join(map(repr, vector)) + "]"
