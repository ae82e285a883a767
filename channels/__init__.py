"""The platforms: how messages come in, how answers go out, and what each platform can take.

This room knows SDKs, formats and limits. It knows no agent, thread or database: it hands
:class:`~channels.messages.InboundMessage` to an :class:`~channels.channel.Inbox` and sends
:class:`~channels.messages.OutboundMessage` when asked to.
"""
