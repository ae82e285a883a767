"""The message a run begins with: what the person wrote, and the facts about it. Pure."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from langchain_core.messages import HumanMessage

from agent_core.text import one_line

# The tag that only we may write (see prompt.py); also with blanks, attributes or look-alikes.
_TAG = re.compile(r"[<＜‹]\s*(/?)\s*(context)\b", re.IGNORECASE)
_NOTE_LENGTH = 1_000
_MAX_UPLOADS = 50


@dataclass(frozen=True, slots=True)
class Upload:
    """A file that came with the message and lies in the thread's uploads.

    Args:
        path: Virtual path below ``/mnt/user-data/uploads``.
        name: As the sender called it.
        size: Bytes.
        mime: Media type, if known.
    """

    path: str
    name: str
    size: int
    mime: str | None = None


def human_message(
    run_id: str, text: str, uploads: Sequence[Upload] = (), notes: Sequence[str] = ()
) -> HumanMessage:
    """Build the message of a run.

    Date, uploads and other facts ride here and not in the system prompt, so that what was sent
    once is never changed.

    Args:
        run_id: Becomes the message's id, by which the run finds itself again.
        text: What the person wrote; may be empty.
        uploads: Files that came with it.
        notes: Facts the caller adds, one line each.
    """
    facts = [one_line(note, _NOTE_LENGTH) for note in notes]
    if uploads:
        facts.append("Uploaded files:")
        facts += [_describe(upload) for upload in uploads[:_MAX_UPLOADS]]
    if len(uploads) > _MAX_UPLOADS:
        facts.append(f"- and {len(uploads) - _MAX_UPLOADS} more in the same place")
    parts = [untagged(text)] if text.strip() else []
    if facts:
        inside = "\n".join(untagged(fact) for fact in facts)
        parts.append(f"<context>\n{inside}\n</context>")
    return HumanMessage("\n\n".join(parts) or "(empty message)", id=run_id)


def untagged(text: str) -> str:
    """Take from ``text`` the power to look like our own context tag."""
    return _TAG.sub(r"(\1\2", text)


def _describe(upload: Upload) -> str:
    kind = one_line(upload.mime, 80) if upload.mime else "unknown type"
    return f"- {one_line(upload.path, 400)} ({upload.size} bytes, {kind})"
