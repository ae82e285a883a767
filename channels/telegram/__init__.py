"""Telegram, through its Bot API with long polling.

Only :mod:`channels.telegram.client` imports the SDK, and it is imported when a channel is built: who
does not use Telegram does not wait for it to load.
"""
