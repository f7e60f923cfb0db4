"""What of a text an embedding model is given to read: the same for every adapter, so that their vectors agree."""

# Far more than 256 tokens of ordinary text in any script. Without a bound, one text of megabytes would cost seconds.
MAX_CHARACTERS = 8_192


def readable(text: str) -> str:
    """The text with each lone surrogate as a question mark, for no tokenizer reads one. Offsets stay as they are."""
    if text.isascii():
        return text
    return text.encode("utf-8", "replace").decode("utf-8")


def beginning(text: str) -> str:
    """What is embedded of a text; a caller reports whatever is longer as truncated."""
    return readable(text[:MAX_CHARACTERS])
