"""What runs in the environment that has torch and sentence-transformers: export, verification, reference vectors."""
