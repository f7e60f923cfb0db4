"""A Lambda execution environment on this machine: the file system and the network that a deployed function sees."""
