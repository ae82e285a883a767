"""Handing files over, which a message then names."""

import asyncio
import json
import re
from pathlib import Path

from channels.errors import FileRefusedError
from channels.feishu.api import ApiCall, GarbledError, OpenApi, RefusedError, Upload
from channels.feishu.render import Form
from channels.messages import OutboundFile

FILE_LIMIT = 30 * 1024 * 1024
"""Bytes in one file (open platform, "upload file")."""

IMAGE_LIMIT = 10 * 1024 * 1024
"""Bytes in one picture (open platform, "upload image")."""

_IMAGES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp", "image/bmp", "image/tiff"})
_KINDS = {
    ".pdf": "pdf",
    ".doc": "doc",
    ".docx": "doc",
    ".xls": "xls",
    ".xlsx": "xls",
    ".ppt": "ppt",
    ".pptx": "ppt",
}
_NO_PICTURE = frozenset({234011, 234039})  # the server finds it is none, or one of a size it does not take
# What would end the name's field in a form, and what no file system likes.
_UNFIT_FOR_NAME = re.compile(r'[\x00-\x1f"\\/\ud800-\udfff]')


async def upload(client: OpenApi, file: OutboundFile) -> Form:
    """Hand a file over, and give what a message needs to show it.

    Raises:
        FileRefusedError: It is too large, empty, or cannot be read.
        ApiError: The platform did not take it.
    """
    size = await asyncio.to_thread(_size, file.path)
    name = _UNFIT_FOR_NAME.sub("_", file.name)
    try:
        if file.mime in _IMAGES and size <= IMAGE_LIMIT:
            try:
                return await _image(client, file, name)
            except RefusedError as refused:
                if refused.code not in _NO_PICTURE:
                    raise
        return await _file(client, file, name)
    except OSError as error:
        raise FileRefusedError(f"the file to send cannot be read: {error.strerror}") from None


async def _image(client: OpenApi, file: OutboundFile, name: str) -> Form:
    call = ApiCall(
        "POST",
        "/open-apis/im/v1/images",
        body={"image_type": "message"},
        upload=Upload("image", file.path, name, file.mime),
    )
    return Form("image", json.dumps({"image_key": await _key(client, call, "image_key")}))


async def _file(client: OpenApi, file: OutboundFile, name: str) -> Form:
    kind = _KINDS.get(Path(name).suffix.lower(), "stream")
    call = ApiCall(
        "POST",
        "/open-apis/im/v1/files",
        body={"file_type": kind, "file_name": name},
        upload=Upload("file", file.path, name, file.mime),
    )
    key = await _key(client, call, "file_key")
    return Form("file", json.dumps({"file_key": key}))


async def _key(client: OpenApi, call: ApiCall, name: str) -> str:
    answer = await client.call(call)
    data = answer.get("data")
    key = data.get(name) if isinstance(data, dict) else None
    if not isinstance(key, str) or not key:
        raise GarbledError("the platform took a file and gave no key")
    return key


def _size(path: Path) -> int:
    """The size of a file that may be sent.

    Raises:
        FileRefusedError: It may not.
    """
    try:
        size = path.stat().st_size
    except OSError as error:
        raise FileRefusedError(f"the file to send cannot be read: {error.strerror}") from None
    if size > FILE_LIMIT:
        raise FileRefusedError(
            f"the file has {size / 1024 / 1024:.1f} MB; Feishu lets bots send at most 30 MB"
        )
    if size == 0:
        raise FileRefusedError("the file is empty; Feishu takes no empty files")
    return size
