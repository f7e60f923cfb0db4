"""How much of a text a model is given, and saying so where it is cut."""

_ASCII_PER_TOKEN = 4  # a usual figure for English prose; other scripts take about a token a character


def estimated_tokens(text: str) -> int:
    """An upper guess without a tokenizer."""
    ascii_only = sum(character.isascii() for character in text)
    return -(-ascii_only // _ASCII_PER_TOKEN) + len(text) - ascii_only


def clipped(text: str, tokens: int) -> str:
    """The beginning of the text that fits, with a line that says how much is missing."""
    if estimated_tokens(text) <= tokens:
        return text
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if estimated_tokens(text[:middle]) <= tokens else (low, middle - 1)
    return f"{text[:low]}\n[cut: {low} of {len(text)} characters are shown]"
