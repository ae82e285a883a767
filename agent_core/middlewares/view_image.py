"""Shows pictures to models that can see."""

import asyncio
import base64
import hashlib
import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any

from langchain.agents.middleware.types import ExtendedModelResponse
from langchain.tools import ToolRuntime
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AnyMessage, HumanMessage, ToolMessage
from langchain_core.tools import BaseTool, tool
from langgraph.types import Command
from pydantic import Field

from agent_core import contained
from agent_core.context import RunContext
from agent_core.human_message import uploads_of
from agent_core.middlewares.layer import Answer, Layer, ModelHandler, Request, context_of
from agent_core.middlewares.turn import begins_turn
from agent_core.paths import PathRefusedError, ThreadFiles
from agent_core.state import ViewedImage
from agent_core.tools.errors import FileToolError

_log = logging.getLogger(__name__)

MAX_BYTES = 5_000_000
MAX_IMAGES = 20
"""In one thread: each is sent with every later request."""

# Beside the folders the model can name, so that what was once sent is never changed.
_KEPT = "images"

_MAGIC = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
)
_CANNOT_SEE = "(A picture stands here; this model cannot see pictures.)"
_GONE = "(A picture stood here; it is not kept any more.)"

Images = Mapping[str, ViewedImage]


@tool
async def view_image(
    path: Annotated[str, Field(description="Which picture, such as /mnt/user-data/uploads/photo.png")],
    runtime: ToolRuntime[RunContext],
) -> Command[Any]:
    """Look at a picture (PNG, JPEG, GIF or WebP). Pictures that came with a message you see already."""
    viewed: Images = runtime.state.get("viewed_images", {})
    if len(viewed) >= MAX_IMAGES:
        raise FileToolError(f"{path}: {MAX_IMAGES} pictures were viewed; no more fit into this conversation")
    image = await asyncio.to_thread(keep, runtime.context.files, path)
    if image is None:
        raise FileToolError(f"{path}: is no picture that can be viewed")
    result = ToolMessage(
        "The picture follows.",
        tool_call_id=runtime.tool_call_id,
        name=view_image.name,
        # Here too, for the picture as it is now: its file may change and be viewed again.
        artifact={"image": dict(image)},
    )
    key = path if viewed.get(path, image) == image else f"{path}#{image['digest'][:8]}"
    return Command(update={"viewed_images": {key: image}, "messages": [result]})


class ViewImageMiddleware(Layer):
    """Puts pictures into the request: those a message came with, and those the model asked for.

    The state holds digests alone. Tools may only answer in text with many servers, so a picture asked
    for follows as a message of its own.

    Args:
        can_see: Tells whether a model reads pictures; a fallback may not.
        offer_tool: The agent's own model does.
    """

    # Inside of what changes the model.
    after = ("LLMErrorHandlingMiddleware", "ReminderMiddleware")

    def __init__(self, can_see: Callable[[BaseChatModel], bool], *, offer_tool: bool) -> None:
        super().__init__()
        self._can_see = can_see
        self.tools: list[BaseTool] = [view_image] if offer_tool else []

    async def awrap_model_call(self, request: Request, handler: ModelHandler) -> Answer:
        """Put the pictures in, then call the model."""
        viewed: Images = request.state.get("viewed_images", {})  # type: ignore[assignment]
        files = context_of(request).files
        sees = self._can_see(request.model)
        # Also while a blind fallback answers: the agent's own model will want to see them.
        came = _came_now(request, viewed) if sees or self.tools else []
        new = await asyncio.to_thread(_kept, files, came) if came else {}
        every = {**viewed, **new}
        if not every:
            return await handler(request)
        if sees:
            messages = await asyncio.to_thread(_with_pictures, files, request.messages, every)
        else:
            messages = _without_pictures(request.messages, every)
        response = await handler(request.override(messages=messages))
        if not new:
            return response
        return ExtendedModelResponse(model_response=response, command=Command(update={"viewed_images": new}))


def keep(files: ThreadFiles, path: str) -> ViewedImage | None:
    """Copy a picture to where it stays as it is; None when it is none. Blocks on the disk.

    Raises:
        FileToolError: There is no such file, it may not be read, or it is too large.
    """
    try:
        data = files.read(path, MAX_BYTES)
    except PathRefusedError as error:
        raise FileToolError(str(error)) from None
    mime_type = mime_of(data)
    if mime_type is None:
        return None
    digest = hashlib.sha256(data).hexdigest()
    contained.replace_file(files.root, (_KEPT, digest), data)
    return ViewedImage(mime_type=mime_type, digest=digest)


def mime_of(data: bytes) -> str | None:
    """Give the media type of a picture by its first bytes; None when it is none that models read. Pure."""
    for magic, mime_type in _MAGIC:
        if data.startswith(magic):
            return mime_type
    return "image/webp" if data[:4] == b"RIFF" and data[8:12] == b"WEBP" else None


def _came_now(request: Request, viewed: Images) -> list[str]:
    """Give the paths of pictures that came with the turn's message and were not viewed yet."""
    messages = request.state["messages"]
    last = messages[-1]
    if not begins_turn(messages) or not isinstance(last, HumanMessage):
        return []
    paths = [
        upload["path"]
        for upload in uploads_of(last)
        if (upload["mime"] or "").startswith("image/")
        and upload["size"] <= MAX_BYTES
        and upload["path"] not in viewed
    ]
    return paths[: max(0, MAX_IMAGES - len(viewed))]


def _kept(files: ThreadFiles, paths: Sequence[str]) -> dict[str, ViewedImage]:
    kept: dict[str, ViewedImage] = {}
    for path in paths:
        try:
            image = keep(files, path)
        except (FileToolError, OSError):
            _log.info("a picture that came with a message could not be read")
            continue
        if image is not None:
            kept[path] = image
    return kept


def _with_pictures(files: ThreadFiles, messages: Sequence[AnyMessage], viewed: Images) -> list[AnyMessage]:
    """Give the history with its pictures. Blocks on the disk."""
    result: list[AnyMessage] = []
    waiting: list[ViewedImage] = []
    for index, message in enumerate(messages):
        came = _came_with(message, viewed)
        if came:
            blocks = [_block(files, image) for image in came]
            text = message.content if isinstance(message.content, str) else message.text
            message = message.model_copy(update={"content": [{"type": "text", "text": text}, *blocks]})
        result.append(message)
        waiting += _asked_for(message)
        following = messages[index + 1] if index + 1 < len(messages) else None
        if waiting and not isinstance(following, ToolMessage):
            result.append(HumanMessage([_block(files, image) for image in waiting]))
            waiting = []
    return result


def _without_pictures(messages: Sequence[AnyMessage], viewed: Images) -> list[AnyMessage]:
    result: list[AnyMessage] = []
    for message in messages:
        if _came_with(message, viewed):
            message = message.model_copy(update={"content": f"{message.text}\n\n{_CANNOT_SEE}"})
        elif _asked_for(message):
            message = message.model_copy(update={"content": _CANNOT_SEE})
        result.append(message)
    return result


def _came_with(message: AnyMessage, viewed: Images) -> list[ViewedImage]:
    if not isinstance(message, HumanMessage):
        return []
    return [viewed[upload["path"]] for upload in uploads_of(message) if upload["path"] in viewed]


def _asked_for(message: AnyMessage) -> list[ViewedImage]:
    if not isinstance(message, ToolMessage) or not isinstance(message.artifact, dict):
        return []
    image = message.artifact.get("image")
    return [image] if message.name == view_image.name and image else []


def _block(files: ThreadFiles, image: ViewedImage) -> dict[str, str]:
    try:
        with contained.open_file(files.root, (_KEPT, image["digest"])) as file:
            data = file.read()
    except (contained.ContainedError, OSError):
        return {"type": "text", "text": _GONE}
    return {"type": "image", "base64": base64.b64encode(data).decode(), "mime_type": image["mime_type"]}
