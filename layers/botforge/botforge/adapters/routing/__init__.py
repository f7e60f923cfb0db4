"""The trained head of the router."""
