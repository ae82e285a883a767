"""The server: HTTP, streams, faults, and a record of what came."""

import asyncio
import itertools
import json
import socket
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from tests.emulators.openai.replies import Fault, FaultKind, Reply, Responder, echo
from tests.emulators.openai.wire import ChatRequest, RefusedError, check_reasoning, is_said, parse, said_in

API_KEY = "sk-emulator-0123456789abcdef"
_REMEMBERED = 256
_BYTES_PER_TOKEN = 4


@dataclass(frozen=True, slots=True)
class Recorded:
    """One request as it came.

    Args:
        at: ``time.monotonic()`` when its body had arrived.
        body: The raw bytes.
        status: What it was answered with; 0 for a hang.
    """

    at: float
    body: bytes
    status: int

    @property
    def json(self) -> Any:
        """The body, parsed."""
        return json.loads(self.body)

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The messages in the body."""
        messages: list[dict[str, Any]] = self.json["messages"]
        return messages

    @property
    def said(self) -> list[str]:
        """The users' words, without the reminders between them."""
        return [said_in(message) for message in self.messages if is_said(message)]


class CutConnectionError(Exception):
    """Raised to make the server break a connection off."""


class _ReadyServer(uvicorn.Server):
    """Uvicorn that tells when it listens, and leaves signals alone."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.ready = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.ready.set()


class OpenAIEmulator:
    """``async with OpenAIEmulator(responder) as emulator: ... emulator.base_url``.

    Args:
        responder: Decides what the model answers.
        models: Names of the models there are.
        api_key: The one key that is accepted.
        port: 0 for any.
        reasoning: Refuse, as vendors of reasoning models do, calls of tools without the thoughts that led
            to them (``required``), or thoughts in a request at all (``refused``).
    """

    def __init__(
        self,
        responder: Responder = echo,
        *,
        models: Sequence[str] = ("test-model",),
        api_key: str = API_KEY,
        port: int = 0,
        reasoning: Literal["ignored", "required", "refused"] = "ignored",
    ) -> None:
        self.responder = responder
        self.models = frozenset(models)
        self.api_key = api_key
        self.requests: list[Recorded] = []
        self.faults: list[Fault] = []
        self.reasoning = reasoning
        self.disconnects = 0
        self._port = port
        self._prefixes: OrderedDict[str, None] = OrderedDict()
        self._ids = itertools.count(1)
        self._changed = asyncio.Condition()
        self._stopping = asyncio.Event()
        self._server: _ReadyServer | None = None
        self._serving: asyncio.Task[None] | None = None

    @property
    def base_url(self) -> str:
        """What to give to a client as ``base_url``."""
        return f"http://127.0.0.1:{self._port}/v1"

    @property
    def accepted(self) -> list[Recorded]:
        """The requests that were answered with 200."""
        return [request for request in self.requests if request.status == 200]

    def fail(self, *faults: Fault) -> None:
        """Let the next requests fail, one fault each."""
        self.faults += faults

    async def wait_for(self, predicate: Callable[[], bool], timeout: float = 10.0) -> None:
        """Wait until something that came makes ``predicate`` true."""
        async with asyncio.timeout(timeout), self._changed:
            await self._changed.wait_for(predicate)

    async def __aenter__(self) -> "OpenAIEmulator":
        listener = socket.create_server(("127.0.0.1", self._port), backlog=512)
        self._port = listener.getsockname()[1]
        app = Starlette(
            routes=[
                Route("/v1/chat/completions", self._completions, methods=["POST"]),
                Route("/v1/models", self._list_models, methods=["GET"]),
            ]
        )
        config = uvicorn.Config(
            app, log_config=None, access_log=False, lifespan="off", timeout_graceful_shutdown=1
        )
        self._server = _ReadyServer(config)
        self._serving = asyncio.create_task(self._server._serve(sockets=[listener]))
        await self._server.ready.wait()
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        assert self._serving is not None
        self._stopping.set()
        self._server.should_exit = True
        await self._serving

    async def _list_models(self, request: Request) -> Response:
        try:
            self._check_key(request)
        except RefusedError as error:
            return JSONResponse(error.body(), error.status)
        data = [{"id": name, "object": "model", "created": 0, "owned_by": "emulator"} for name in self.models]
        return JSONResponse({"object": "list", "data": data})

    async def _completions(self, request: Request) -> Response:
        body = await request.body()
        at = time.monotonic()
        fault = self.faults.pop(0) if self.faults else None
        try:
            self._check_key(request)
            if fault is not None and fault.kind is FaultKind.STATUS:
                await self._record(at, body, fault.status)
                refused = RefusedError(fault.status, fault.message, fault.code)
                return JSONResponse(refused.body(), fault.status, headers=dict(fault.headers))
            chat = parse(body, self.models)
            check_reasoning(chat, self.reasoning)
        except RefusedError as error:
            await self._record(at, body, error.status)
            return JSONResponse(error.body(), error.status)
        if fault is not None and fault.kind is FaultKind.HANG:
            await self._record(at, body, 0)
            await self._hang(request)
            return Response(status_code=503)
        await self._record(at, body, 200)
        reply = self.responder(chat)
        if not isinstance(reply, Reply):
            reply = await reply
        if reply.delay:
            await asyncio.sleep(reply.delay)
        usage = self._usage(chat, reply)
        if chat.stream:
            stream = self._stream(request, chat, reply, usage, fault)
            return StreamingResponse(stream, media_type="text/event-stream")
        return JSONResponse(self._whole(chat, reply, usage))

    def _check_key(self, request: Request) -> None:
        if request.headers.get("authorization") != f"Bearer {self.api_key}":
            raise RefusedError(401, "Incorrect API key provided.", "invalid_api_key")

    async def _record(self, at: float, body: bytes, status: int) -> None:
        self.requests.append(Recorded(at, body, status))
        async with self._changed:
            self._changed.notify_all()

    async def _hang(self, request: Request) -> None:
        """Say nothing until the client has gone or the server stops."""
        gone = asyncio.create_task(self._until_gone(request))
        stopping = asyncio.create_task(self._stopping.wait())
        done, pending = await asyncio.wait({gone, stopping}, return_when=asyncio.FIRST_COMPLETED)
        for task in pending:
            task.cancel()
        if gone in done:
            self.disconnects += 1
            async with self._changed:
                self._changed.notify_all()

    @staticmethod
    async def _until_gone(request: Request) -> None:
        while (await request.receive())["type"] != "http.disconnect":
            pass

    async def _stream(
        self, request: Request, chat: ChatRequest, reply: Reply, usage: dict[str, Any], fault: Fault | None
    ) -> AsyncIterator[bytes]:
        head = {
            "id": f"chatcmpl-{next(self._ids)}",
            "object": "chat.completion.chunk",
            "created": int(time.time()),
            "model": chat.model,
        }
        deltas = list(_deltas(reply, next(self._ids)))
        half = max(1, len(deltas) // 2)
        for index, delta in enumerate(deltas):
            if index == half and fault is not None:
                if fault.kind is FaultKind.CUT_CLEANLY:
                    return
                if fault.kind is FaultKind.CUT_HARD:
                    raise CutConnectionError
                if fault.kind is FaultKind.MALFORMED:
                    yield b"data: {this is not JSON\n\n"
                    return
                if fault.kind is FaultKind.HANG_MID_STREAM:
                    await self._stopping.wait()
                    return
            yield _event({**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]})
            if reply.chunk_delay:
                await asyncio.sleep(reply.chunk_delay)
        finish: dict[str, Any] = {"index": 0, "delta": {}, "finish_reason": _finish(reply)}
        if reply.usage_style == "kimi":
            finish["usage"] = usage
        yield _event({**head, "choices": [finish]})
        if chat.include_usage and reply.usage_style != "kimi":
            yield _event({**head, "choices": [], "usage": usage})
        yield b"data: [DONE]\n\n"

    def _whole(self, chat: ChatRequest, reply: Reply, usage: dict[str, Any]) -> dict[str, Any]:
        number = next(self._ids)
        message: dict[str, Any] = {"role": "assistant", "content": reply.text or None}
        if reply.reasoning:
            message[reply.reasoning_field] = reply.reasoning
        if reply.calls:
            message["tool_calls"] = [
                {
                    "id": call.id or f"call_{number}_{index}",
                    "type": "function",
                    "function": {"name": call.name, "arguments": call.arguments_text()},
                }
                for index, call in enumerate(reply.calls)
            ]
        return {
            "id": f"chatcmpl-{number}",
            "object": "chat.completion",
            "created": int(time.time()),
            "model": chat.model,
            "choices": [{"index": 0, "message": message, "finish_reason": _finish(reply)}],
            "usage": usage,
        }

    def _usage(self, chat: ChatRequest, reply: Reply) -> dict[str, Any]:
        prompt = chat.prefix()
        cached = max((_common(prompt, seen) for seen in self._prefixes), default=0)
        self._prefixes[prompt] = None
        while len(self._prefixes) > _REMEMBERED:
            self._prefixes.popitem(last=False)
        output = len(reply.text) + sum(len(call.arguments_text()) for call in reply.calls)
        input_tokens = len(prompt) // _BYTES_PER_TOKEN + 1
        output_tokens = output // _BYTES_PER_TOKEN + 1
        counted = {
            "prompt_tokens": input_tokens,
            "completion_tokens": output_tokens,
            "total_tokens": input_tokens + output_tokens,
        }
        return counted | _cached(cached // _BYTES_PER_TOKEN, input_tokens, reply.usage_style)


def _cached(tokens: int, prompt: int, style: str) -> dict[str, Any]:
    match style:
        case "deepseek":
            return {"prompt_cache_hit_tokens": tokens, "prompt_cache_miss_tokens": prompt - tokens}
        case "kimi":
            return {"cached_tokens": tokens}
        case _:
            return {"prompt_tokens_details": {"cached_tokens": tokens}}


def _deltas(reply: Reply, number: int) -> Iterator[dict[str, Any]]:
    yield {"role": "assistant", "content": ""}
    for start in range(0, len(reply.reasoning), reply.chunk_size):
        yield {reply.reasoning_field: reply.reasoning[start : start + reply.chunk_size]}
    for start in range(0, len(reply.text), reply.chunk_size):
        yield {"content": reply.text[start : start + reply.chunk_size]}
    for index, call in enumerate(reply.calls):
        head = {"index": index, "id": call.id or f"call_{number}_{index}", "type": "function"}
        yield {"tool_calls": [{**head, "function": {"name": call.name, "arguments": ""}}]}
        text = call.arguments_text()
        for start in range(0, len(text), reply.chunk_size):
            piece = text[start : start + reply.chunk_size]
            yield {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}


def _finish(reply: Reply) -> str:
    return reply.finish_reason or ("tool_calls" if reply.calls else "stop")


def _event(data: dict[str, Any]) -> bytes:
    return b"data: " + json.dumps(data, ensure_ascii=False).encode() + b"\n\n"


def _common(left: str, right: str) -> int:
    """Give how many characters two texts begin with in common."""
    low, high = 0, min(len(left), len(right))
    while low < high:
        middle = (low + high + 1) // 2
        if left[:middle] == right[:middle]:
            low = middle
        else:
            high = middle - 1
    return low
