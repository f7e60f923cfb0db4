"""What BotForge is about: frozen dataclasses and pure functions, with no vendor and no I/O."""
