"""The whole of AWS that BotForge needs, on a laptop: real PostgreSQL, S3 and SQS over HTTP, the gateway, the runtime.

``supervisor`` puts it together, ``serve`` is its command line.
"""
