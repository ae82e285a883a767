"""Gives the model the text of a skill that a person asks for by name."""

import asyncio
import logging
from collections.abc import Sequence

from agent_core.middlewares.layer import Answer, Layer, ModelHandler, Request, context_of
from agent_core.middlewares.reminders import remind_inside
from agent_core.middlewares.turn import begins_turn
from agent_core.paths import PathRefusedError, ThreadFiles
from agent_core.skills.asked import asked_skill
from agent_core.skills.frontmatter import SkillFormatError, split
from agent_core.skills.loader import MAX_SKILL_BYTES
from agent_core.skills.skill import Skill

_log = logging.getLogger(__name__)

_FOLLOW = """\
The message below asks for the skill {name}. Its text stands here, as {location} holds it now. Work as it \
says for this message; later messages do not ask for it unless they say so. If the message holds nothing \
but the name, do what the skill says can be done without further words, or ask what you need.

{text}"""

_MISSING = """\
The message below asks for the skill {name}, whose text cannot be read. Say so, then do what was asked as \
well as you can without it."""


class SkillMiddleware(Layer):
    """Puts the text of a skill at the head of a message that begins with ``/`` and its name.

    It stays there in later requests, as everything does that was sent once, and says which message it is for.

    Args:
        skills: Those there are.
    """

    before = ("ReminderMiddleware",)

    def __init__(self, skills: Sequence[Skill]) -> None:
        super().__init__()
        self._skills = {skill.name: skill for skill in skills}

    async def awrap_model_call(self, request: Request, handler: ModelHandler) -> Answer:
        """Put the text in, if there is one to put, then call the model."""
        messages = request.state["messages"]
        name = asked_skill(messages[-1].text, self._skills) if begins_turn(messages) else None
        if name is None:
            return await handler(request)
        context = context_of(request)
        told = await asyncio.to_thread(_told, context.files, self._skills[name])
        _log.info("run %s: uses the skill %s", context.run_id, name)
        return await handler(remind_inside(request, told))


def _told(files: ThreadFiles, skill: Skill) -> str:
    try:
        data = files.read(skill.location, MAX_SKILL_BYTES)
        _, text = split(data.decode("utf-8-sig"))
    except (PathRefusedError, SkillFormatError, UnicodeDecodeError) as error:
        # It was sound at the start.
        _log.warning("The skill %s can no longer be read: %s", skill.name, error)
        return _MISSING.format(name=skill.name)
    return _FOLLOW.format(name=skill.name, location=skill.location, text=text)
