"""Bolt as it is used here: it tells events, commands and presses apart and decides what is acknowledged.

Acknowledged is what was stored, set aside or is not for us; nothing else. Left to itself, Bolt
acknowledges an event before its listener runs, acknowledges what it cannot authorize, and does not
acknowledge what nobody listens to, so that Slack delivers it thrice more.
"""

import logging
import re
from typing import Any

from slack_bolt.app.async_app import AsyncApp
from slack_bolt.authorization import AuthorizeResult
from slack_bolt.context.ack.async_ack import AsyncAck
from slack_bolt.error import BoltUnhandledRequestError
from slack_bolt.response import BoltResponse
from slack_sdk.web.async_client import AsyncWebClient

from channels.slack.api import Token
from channels.slack.client import PLACEHOLDERS, SDK_LOG
from channels.slack.intake import Intake, NotStoredError

log = logging.getLogger(__name__)

ANYTHING = re.compile("")
ACKNOWLEDGE = 200
DELIVER_AGAIN = 503


def bolt_app(intake: Intake, base_url: str) -> AsyncApp:
    """An app that puts what it hears into an intake.

    Args:
        intake: Where it goes.
        base_url: Where the Web API is. The app itself calls nothing.
    """
    app = AsyncApp(
        name="hart",
        logger=SDK_LOG,
        client=AsyncWebClient(base_url=base_url, logger=SDK_LOG, retry_handlers=[]),
        process_before_response=True,
        raise_error_for_unhandled_request=True,
        authorize=_known(intake),
        # Requests over HTTP are verified before they get here, and a socket is ours by its ticket.
        request_verification_enabled=False,
        ssl_check_enabled=False,
        attaching_function_token_enabled=False,
        attaching_conversation_kwargs_enabled=False,
    )

    async def on_event(body: dict[str, Any]) -> None:
        await intake.event(body)

    async def on_command(body: dict[str, Any], ack: AsyncAck) -> None:
        await intake.command(body)
        await ack()

    async def on_press(body: dict[str, Any], ack: AsyncAck) -> None:
        await intake.press(body)
        await ack()

    async def on_error(error: Exception, body: dict[str, Any]) -> BoltResponse:
        return BoltResponse(status=await _judge(error, body, intake))

    app.event(ANYTHING)(on_event)
    app.command(ANYTHING)(on_command)
    app.block_action(ANYTHING)(on_press)
    app.error(on_error)
    return app


def _known(intake: Intake) -> Any:
    """Authorizes by what we know of ourselves: asking Slack could fail, and Bolt would lose the event."""
    bot = intake.bot
    result = AuthorizeResult(
        enterprise_id=None,
        team_id=bot.team_id,
        bot_user_id=bot.user_id,
        bot_id=bot.bot_id,
        bot_token=PLACEHOLDERS[Token.BOT],
    )

    async def authorize() -> AuthorizeResult:
        return result

    return authorize


async def _judge(error: Exception, body: dict[str, Any], intake: Intake) -> int:
    """The status for what did not go through."""
    if isinstance(error, BoltUnhandledRequestError):
        # A kind of request that we have no use for.
        log.debug("slack: ignored a request that nobody listens to")
        return ACKNOWLEDGE
    if isinstance(error, NotStoredError):
        log.warning("slack: not acknowledged: %s", error)
        return DELIVER_AGAIN
    return await set_aside(error, body, intake)


async def set_aside(error: Exception, body: object, intake: Intake) -> int:
    """Record what broke its handling, once, instead of having it break the next delivery too."""
    log.error("slack: could not handle what came", exc_info=error)
    try:
        await intake.set_aside(body, f"broke its handling: {type(error).__name__}")
    except NotStoredError as fault:
        log.warning("slack: not acknowledged: %s", fault)
        return DELIVER_AGAIN
    return ACKNOWLEDGE
