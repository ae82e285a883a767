"""How much an agent may spend on a request: four modes, from quick to thorough."""

from enum import StrEnum

from agent_core.subagents.spec import TASK_TOOL

PLAN_TOOLS = ("write_todos",)
SUBAGENT_TOOLS = (TASK_TOOL,)


class Mode(StrEnum):
    """What is on: thinking before it answers, plans, subagents.

    ``flash`` has none of them, ``standard`` thinks, ``pro`` also plans, ``ultra`` also has subagents.
    """

    FLASH = "flash"
    STANDARD = "standard"
    PRO = "pro"
    ULTRA = "ultra"

    @property
    def thinks(self) -> bool:
        """The model is told to think, if it can be."""
        return self is not Mode.FLASH

    @property
    def plans(self) -> bool:
        """The agent may keep a list of steps."""
        return self in (Mode.PRO, Mode.ULTRA)

    @property
    def delegates(self) -> bool:
        """The agent may use subagents."""
        return self is Mode.ULTRA

    @property
    def closed_tools(self) -> tuple[str, ...]:
        """Names of the tools that are off."""
        return (() if self.plans else PLAN_TOOLS) + (() if self.delegates else SUBAGENT_TOOLS)
