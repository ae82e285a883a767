"""Modes as they are written in the configuration."""

from typing import Annotated

from agent_core.modes import Mode
from bot.config.section import Expected

ModeName = Annotated[Mode, Expected(f"one of {', '.join(Mode)}")]
