"""``/pair``: who waits to be let in, letting them in or not, and shutting people out."""

from collections.abc import Sequence
from datetime import datetime

from bot.access import LOCAL_CHANNELS
from bot.commands.registry import Command, CommandContext
from bot.config.channels import Role
from bot.pairing import OPERATOR, Approver, Overview, approver_name

USAGE = "Use `/pair list`, `/pair approve CODE`, `/pair reject ID` or `/pair revoke ID`."


async def pair(context: CommandContext) -> str:
    """Carry one of its forms out."""
    approver = _approver(context)
    match context.argument.split():
        case [] | ["list"]:
            return _listing(await context.pairing.overview(approver), context.now)
        case ["approve", *code] if code:
            approval = f"in:{context.inbound_id}"
            outcome = await context.pairing.approve(approver, "".join(code), Role.MEMBER, approval)
            return outcome.words
        case ["reject", user_id]:
            return (await context.pairing.reject(approver, user_id.strip("`"))).words
        case ["revoke", user_id]:
            return (await context.pairing.revoke(approver, user_id.strip("`"))).words
    return USAGE


def _approver(context: CommandContext) -> Approver:
    address = context.message.address
    if address.channel in LOCAL_CHANNELS:
        return OPERATOR
    account = (address.channel, address.account)
    return Approver(approver_name(account, context.message.sender.id), context.role, account)


def _listing(overview: Overview, now: datetime) -> str:
    waiting = [f"- {one}, for {int((now - one.since).total_seconds() // 60)} min" for one in overview.waiting]
    let_in = [f"- {one}, {one.role}, since {one.since:%Y-%m-%d}" for one in overview.let_in]
    return "\n".join([*_section("Waiting", waiting), "", *_section("Let in by a code", let_in), "", USAGE])


def _section(title: str, lines: Sequence[str]) -> list[str]:
    return [f"{title}:", "", *lines] if lines else [f"{title}: nobody."]


def _without_code(argument: str) -> str:
    return "approve …" if argument.split()[:1] == ["approve"] else argument


COMMANDS = (
    Command(
        "pair",
        "list | approve CODE | reject ID | revoke ID",
        "Show who waits to be let in, let them in or not, or shut somebody out",
        pair,
        role=Role.ADMIN,
        kept=_without_code,
    ),
)
