"""Hearing: the long-polling loop.

The offset of the next ``getUpdates`` is what acknowledges updates (Bot API), so it moves only once
the inbox has each of them on disk.
"""

import asyncio
import hashlib
import json
import logging
import re
from collections.abc import Awaitable, Callable
from typing import Any

from channels.backoff import Pause, backoff_seconds
from channels.channel import Inbox
from channels.errors import ChannelRefusedError, InboxUnavailableError
from channels.telegram.api import ApiCall, ApiError, BotApi, GarbledError, RefusedError
from channels.telegram.normalize import (
    CHANNEL,
    BotIdentity,
    Ignored,
    MalformedUpdateError,
    normalize,
    origin,
    press_id,
    update_id,
)

log = logging.getLogger(__name__)

ALLOWED_UPDATES = '["message", "callback_query"]'
BATCH = 100
LONGEST_PAUSE = 30.0
_LONGEST_OBEYED_PAUSE = 300.0
_RAW_LIMIT = 100_000
_LONE_ID = re.compile(
    r'\s*\{\s*"ok"\s*:\s*true\s*,\s*"result"\s*:\s*\[\s*\{\s*"update_id"\s*:\s*(\d{1,16})\b'
)


class Poller:
    """Hands all updates of one bot to an inbox, in order.

    Args:
        client: The Bot API.
        account: Name of the account, for keys, addresses and the log.
        poll_seconds: How long a poll waits for something to happen.
        pause: Waits between tries.
        chance: Gives numbers between 0 and 1.
    """

    def __init__(
        self,
        client: BotApi,
        account: str,
        poll_seconds: int,
        pause: Pause,
        chance: Callable[[], float],
    ) -> None:
        self._client = client
        self._account = account
        self._poll_seconds = poll_seconds
        self._pause = pause
        self._chance = chance
        self._offset: int | None = None
        self._garbled = 0
        self._answers: set[asyncio.Task[None]] = set()

    async def run(self, inbox: Inbox) -> None:
        """Poll until cancelled.

        Raises:
            ChannelRefusedError: Telegram does not know the token (any more).
        """
        try:
            await self._run(inbox)
        finally:
            for task in self._answers:
                task.cancel()
            await asyncio.gather(*self._answers, return_exceptions=True)

    async def _run(self, inbox: Inbox) -> None:
        failures = 0
        bot: BotIdentity | None = None
        while True:
            before = self._offset
            try:
                bot = bot or await identify(self._client)
                updates = await self._poll()
                self._garbled = 0
            except ApiError as fault:
                failures += 1
                await self._recover(fault, failures, inbox)
                continue
            for raw in updates:
                await self._store(raw, inbox, bot)
            if updates and self._offset == before:
                # Nothing here can be acknowledged, so the same would come again at once.
                failures += 1
                await self._wait(failures)
            else:
                failures = 0

    async def _poll(self) -> list[Any]:
        params: dict[str, int | str] = {
            "timeout": self._poll_seconds,
            "limit": 1 if self._garbled else BATCH,
            "allowed_updates": ALLOWED_UPDATES,
        }
        if self._offset is not None:
            params["offset"] = self._offset
        result = await self._client.call(ApiCall("getUpdates", {**params}), wait_seconds=self._poll_seconds)
        if not isinstance(result, list):
            raise GarbledError(json.dumps(result)[:_RAW_LIMIT])
        return result

    async def _store(self, raw: Any, inbox: Inbox, bot: BotIdentity) -> None:
        """Store one update, however long that takes, and then count it as heard."""
        try:
            identity = update_id(raw)
        except MalformedUpdateError:
            identity = None
        pressed = press_id(raw)
        if pressed is not None:
            task = asyncio.create_task(self._answer_press(pressed))
            self._answers.add(task)
            task.add_done_callback(self._answers.discard)
        await self._until_stored(lambda: self._hand_over(raw, inbox, bot, identity))
        if identity is not None:
            self._offset = identity + 1

    async def _hand_over(self, raw: Any, inbox: Inbox, bot: BotIdentity, identity: int | None) -> None:
        try:
            message = normalize(raw, self._account, bot)
        except MalformedUpdateError as fault:
            text = _as_text(raw)
            key = self._update_key(bot.id, identity, text)
            log.warning("telegram/%s: set aside an update: %s", self._account, fault)
            await inbox.reject(origin(raw, self._account), key, text[:_RAW_LIMIT], str(fault))
            return
        if isinstance(message, Ignored):
            log.debug("telegram/%s: ignored update %s: %s", self._account, identity, message.reason)
        else:
            await inbox.accept(message)

    async def _answer_press(self, query_id: str) -> None:
        """Have the button stop spinning (Bot API ``answerCallbackQuery``)."""
        try:
            await self._client.call(ApiCall("answerCallbackQuery", {"callback_query_id": query_id}))
        except ApiError as fault:
            log.debug("telegram/%s: a press was not answered: %s", self._account, fault)

    def _update_key(self, bot_id: int, identity: int | None, text: str) -> str:
        """For what has no message to be known by; without an id its content has to serve."""
        name = identity if identity is not None else hashlib.sha256(text.encode()).hexdigest()
        return f"{CHANNEL}:{self._account}:{bot_id}:update:{name}"

    async def _until_stored(self, store: Callable[[], Awaitable[None]]) -> None:
        failures = 0
        while True:
            try:
                return await store()
            except InboxUnavailableError as error:
                failures += 1
                log.warning("telegram/%s: cannot store what came: %s", self._account, error)
                await self._wait(failures)

    async def _recover(self, fault: ApiError, failures: int, inbox: Inbox) -> None:
        """Do what a failed poll asks for, and wait before the next.

        Raises:
            ChannelRefusedError: Nothing can be done.
        """
        obeyed: float | None = None
        if isinstance(fault, RefusedError):
            if fault.bad_token:
                raise refused_token(self._account)
            obeyed = fault.retry_after
            if fault.code == 409 and "webhook" in fault.description:
                await self._remove_webhook()
        elif isinstance(fault, GarbledError):
            await self._skip_unreadable(fault, inbox)
        log.warning("telegram/%s: polling failed (%d in a row): %s", self._account, failures, fault)
        await self._wait(failures, obeyed)

    async def _remove_webhook(self) -> None:
        """A webhook keeps polls from working; what waits for it stays in the queue for us."""
        try:
            await self._client.call(ApiCall("deleteWebhook", {"drop_pending_updates": False}))
        except ApiError as fault:
            log.warning("telegram/%s: the webhook could not be removed: %s", self._account, fault)

    async def _skip_unreadable(self, fault: GarbledError, inbox: Inbox) -> None:
        """Get past an update that breaks the JSON of every batch it is in.

        After the first such answer polls ask for one update at a time. One that stays unreadable is
        set aside under the id it begins with; an answer that names no update (a proxy's error page)
        is waited out like any outage.
        """
        self._garbled += 1
        named = _LONE_ID.match(fault.payload)
        if self._garbled < 3 or named is None:
            return
        identity = int(named[1])
        text = fault.payload.replace("\x00", "\ufffd")
        key = f"{CHANNEL}:{self._account}:unreadable:{identity}"
        address = origin(None, self._account)
        await self._until_stored(lambda: inbox.reject(address, key, text[:_RAW_LIMIT], "unreadable JSON"))
        self._offset = identity + 1

    async def _wait(self, failures: int, obeyed: float | None = None) -> None:
        own = backoff_seconds(failures, self._chance(), longest=LONGEST_PAUSE)
        await self._pause(max(own, min(obeyed or 0.0, _LONGEST_OBEYED_PAUSE)))


async def identify(client: BotApi) -> BotIdentity:
    """Ask who we are.

    Raises:
        ApiError: No usable answer.
    """
    me = await client.call(ApiCall("getMe", {}))
    match me:
        case {"id": int(bot_id), "username": str(username)}:
            return BotIdentity(bot_id, username)
    raise GarbledError("getMe gave no bot")


def refused_token(account: str) -> ChannelRefusedError:
    """What to say when Telegram does not know the token."""
    return ChannelRefusedError(
        f"Telegram does not accept the token of account {account!r}: "
        "put the one @BotFather shows into its token setting"
    )


def _as_text(raw: Any) -> str:
    try:
        return json.dumps(raw)
    except (RecursionError, ValueError):
        return "(nested too deeply to be written down)"
