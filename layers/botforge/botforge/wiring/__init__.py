"""Composition roots: one module a function, importing at the top exactly what that function pays for at init."""
