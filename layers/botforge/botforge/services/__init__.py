"""The use cases. They know ports and the domain, return facts, and leave telling anyone about it to the edges."""
