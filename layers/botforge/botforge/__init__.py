"""BotForge: bots that answer from documents and act through tools, with evidence.

The rooms, and the one way imports go between them::

    functions → wiring | http | events → services | adapters | telemetry | settings → ports → domain
"""

__version__ = "0.1.0"
