"""Feishu and Lark, through their open platform: a long connection to hear, REST to speak.

The platform's own SDK is not used. It blocks the event loop to fetch tokens, keeps one global event
loop, stops listening for good at some errors of a reconnection, and takes ten seconds to import.
What is needed of it is small: a frame of nine fields, and HTTP.
"""
