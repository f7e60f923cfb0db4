"""What BotForge costs beside sentence-transformers and LangChain, measured side by side in one run.

One module a benchmark, each with ``run``; what runs inside a contestant's own environment lies in ``ours`` and
``opponents``. Never a test: figures depend on the machine, ratios less so.
"""
