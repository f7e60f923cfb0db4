"""A Lambda environment on this machine: the Runtime API, and the file system and network that a function sees."""
