"""The shapes of the events that are not HTTP, turned into commands."""
