"""How the stand-in model reads a request for work on a schedule. Pure."""

import re

from agent_core.text import one_line

_DAYS = {
    "day": "*",
    "weekday": "1-5",
    "workday": "1-5",
    **{
        day: str(number)
        for number, day in enumerate(
            ("sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday")
        )
    },
}
_REQUEST = re.compile(
    r"(?:please\s+)?every\s+(?:"
    rf"(?P<day>{'|'.join(_DAYS)})\s+at\s+(?P<hour>[01]?\d|2[0-3])(?:[:.](?P<minute>[0-5]\d))?"
    r"(?:\s*(?:o'clock|h)\b)?"
    r"|(?P<count>\d{1,3}\s+)?(?P<unit>minute|hour)s?\b"
    r")\s*[,:]?\s+(?P<prompt>\S.*)",
    re.IGNORECASE | re.DOTALL,
)
_TITLE_LENGTH = 50


def schedule_arguments(asked: str) -> dict[str, object] | None:
    """The arguments of ``schedule_task`` for a request such as ``every weekday at 8:00 tell me …``; None when
    it is no such request."""
    found = _REQUEST.fullmatch(asked.strip())
    if found is None:
        return None
    prompt = found["prompt"].strip()
    arguments: dict[str, object] = {"title": one_line(prompt, _TITLE_LENGTH), "prompt": prompt}
    if found["day"]:
        minute, hour = int(found["minute"] or 0), int(found["hour"])
        return {**arguments, "cron": f"{minute} {hour} * * {_DAYS[found['day'].lower()]}"}
    return {**arguments, "every": f"{int(found['count'] or 1)}{found['unit'][0].lower()}"}
