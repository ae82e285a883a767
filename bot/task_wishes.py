"""From what somebody wishes to a task, and to a changed one. Pure."""

import hashlib
import re
import unicodedata
from dataclasses import replace
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from agent_core.tools.scheduling import TaskWish
from bot.task_spec import TaskSpec
from channels.messages import Address, InboundMessage
from scheduler.errors import ScheduleError
from scheduler.hours import parse_hours
from scheduler.schedule import next_fires, parse_cron, parse_every, parse_once, parse_zone, require_floor

MAX_TITLE = 80
MAX_PROMPT = 8_000


def wished(
    wish: TaskWish, before: TaskSpec, now: datetime, floor: timedelta, *, new: bool = False
) -> TaskSpec:
    """A task with what was wished put into it.

    Args:
        wish: What is to be different.
        before: The task as it is, or an empty one.
        now: The present (aware).
        floor: The least time between two runs.
        new: There is no schedule yet, so one must be wished.

    Raises:
        ScheduleError: It cannot be, in words for whoever wished.
    """
    given = [one for one in (wish.cron, wish.every, wish.at) if one is not None]
    if len(given) > 1 or (new and not given):
        raise ScheduleError("A task has exactly one of cron, every and at.")
    zone = parse_zone(wish.zone if wish.zone is not None else before.zone)
    spec = replace(before, zone=zone.key)
    if wish.cron is not None:
        spec = replace(spec, cron=parse_cron(wish.cron).expression, every=None, at=None)
    elif wish.every is not None:
        spec = replace(spec, cron=None, every=parse_every(wish.every), at=None)
    elif wish.at is not None:
        spec = replace(spec, cron=None, every=None, at=parse_once(wish.at, zone, now).at)
    if wish.title is not None:
        spec = replace(spec, title=_title(wish.title))
    if wish.prompt is not None:
        spec = replace(spec, prompt=_prompt(wish.prompt))
    if wish.quiet is not None:
        spec = replace(spec, quiet=wish.quiet)
    if wish.active_hours is not None:
        hours = wish.active_hours.strip()
        spec = replace(spec, active_hours=str(parse_hours(hours)) if hours not in ("", "always") else None)
    _check(spec, zone, now, floor)
    return spec


def _check(spec: TaskSpec, zone: ZoneInfo, now: datetime, floor: timedelta) -> None:
    schedule = spec.schedule(now)
    require_floor(schedule, now, floor)
    if not next_fires(schedule, zone, now, 1):
        raise ScheduleError("That time has passed.")


def place_of(message: InboundMessage) -> Address:
    """Where a task posts that somebody asked for in a message: the chat, and the thread or topic it was asked
    in, but not the thread that the message itself began."""
    address = message.address
    if address.platform_thread == message.message_id:
        return replace(address, platform_thread=None)
    return address


def name_for(title: str, key: str) -> str:
    """A name to type: the title's words, and a few characters that tell it from others with the same.

    Args:
        title: What people call the task.
        key: What asked for it: the same key makes the same name.
    """
    plain = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode().lower()
    words = re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:32].strip("-") or "task"
    return f"{words}-{hashlib.sha256(key.encode()).hexdigest()[:5]}"


def _title(text: str) -> str:
    title = " ".join(text.split()).replace("*", "").replace("`", "'")[:MAX_TITLE]
    if not title:
        raise ScheduleError("A task needs a title.")
    return title


def _prompt(text: str) -> str:
    if not text.strip():
        raise ScheduleError("A task needs a prompt: what is to be done.")
    if len(text) > MAX_PROMPT:
        raise ScheduleError(f"The prompt of a task has at most {MAX_PROMPT:,} characters.")
    return text.strip()
