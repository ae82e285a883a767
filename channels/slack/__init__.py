"""Slack, through Bolt: Socket Mode, or HTTP events.

Only :mod:`channels.slack.client`, :mod:`channels.slack.bolt`, :mod:`channels.slack.socket` and
:mod:`channels.slack.http` import the SDK, and they are imported when a channel is built: who does not
use Slack does not wait for it to load.
"""
