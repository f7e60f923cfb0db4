"""Training and studying the router."""
