"""Text out of documents: one module a format, chosen by ``by_format``, run in a process of its own by ``isolated``."""
