"""The agent harness: models, tools, middlewares, checkpoints.

This room knows no chat, platform or schedule. It can be used by itself.
"""
