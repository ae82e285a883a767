"""Subagents: agents that the lead agent gives a part of its work to, each with a context of its own."""
