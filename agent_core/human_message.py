"""The message a run begins with: what the person wrote, and the facts about it. Pure.

Stored are the words as they came; the facts lie beside them and are written into the text only when
it is sent to a model (``middlewares/uploads.py``). So the history holds what was said, and what the
system adds can always be told from what a person wrote.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from langchain_core.messages import HumanMessage

from agent_core.state import UploadedFile
from agent_core.text import one_line

# Kept in ``response_metadata``, which is stored but never sent to a provider.
_FACTS = "hart_facts"
_UPLOADS = "hart_uploads"

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

    Args:
        run_id: Becomes the message's id, by which the run finds itself again.
        text: What the person wrote; may be empty.
        uploads: Files that came with it.
        notes: Facts the caller adds, one line each.
    """
    said = text if text.strip() else ""
    metadata = {_FACTS: _facts(uploads, notes), _UPLOADS: uploaded_files(uploads)}
    kept = {key: value for key, value in metadata.items() if value}
    if not said and not kept:
        said = "(empty message)"
    return HumanMessage(said, id=run_id, response_metadata=kept)


def uploaded_files(uploads: Sequence[Upload]) -> list[UploadedFile]:
    """Give the uploads as the state keeps them."""
    return [UploadedFile(path=u.path, name=u.name, size=u.size, mime=u.mime) for u in uploads]


def facts_of(message: HumanMessage) -> list[str]:
    """Give the facts about a message, one line each."""
    facts: list[str] = message.response_metadata.get(_FACTS, [])
    return facts


def uploads_of(message: HumanMessage) -> list[UploadedFile]:
    """Give the files that came with a message."""
    uploads: list[UploadedFile] = message.response_metadata.get(_UPLOADS, [])
    return uploads


def said_in(message: HumanMessage) -> str:
    """Give what a person said, for people to read; a message of files alone names them."""
    text = message.text.strip()
    if text:
        return text
    names = ", ".join(one_line(upload["name"], 80) for upload in uploads_of(message)[:5])
    return f"({names})" if names else ""


def _facts(uploads: Sequence[Upload], notes: Sequence[str]) -> list[str]:
    facts = [one_line(note, _NOTE_LENGTH) for note in notes]
    if uploads:
        facts.append("Uploaded files:")
        facts += [_describe(upload) for upload in uploads[:_MAX_UPLOADS]]
    if len(uploads) > _MAX_UPLOADS:
        facts.append(f"- and {len(uploads) - _MAX_UPLOADS} more in the same place")
    return facts


def _describe(upload: Upload) -> str:
    kind = one_line(upload.mime, 80) if upload.mime else "unknown type"
    return f"- {one_line(upload.path, 400)} ({upload.size} bytes, {kind})"
