"""An OpenAI-compatible model server on the loopback, as strict as real ones."""

from tests.emulators.openai.replies import Call, Fault, Reply, Responder, echo, sequence
from tests.emulators.openai.server import OpenAIEmulator, Recorded
from tests.emulators.openai.wire import ChatRequest

__all__ = [
    "Call",
    "ChatRequest",
    "Fault",
    "OpenAIEmulator",
    "Recorded",
    "Reply",
    "Responder",
    "echo",
    "sequence",
]
