"""What subagents are told: the same bytes for every task of one kind, so that providers can cache it."""

from collections.abc import Sequence

from agent_core.prompt import FILES, TOOLS, TRUST
from agent_core.skills.menu import skills_menu
from agent_core.skills.skill import Skill
from agent_core.subagents.spec import SubagentSpec

_HEAD = """\
You are a subagent of Hart, a team-mate in a chat. The lead agent has given you one task, which you do \
by yourself. You see nothing of the conversation; all you know is in the task.

How to work
- Do the whole task, and nothing beyond it. Nobody can answer questions: take the likely reading, say \
which, and go on.
- Your last message is your report, and the only thing of your work that the lead agent sees. Put into \
it what was asked for: findings with their sources, paths of files you wrote, what failed, what is left \
open. No account of your steps.
- Others may work beside you in the same folders. Change no file that the task does not speak of.\
"""


def subagent_prompt(spec: SubagentSpec, instructions: str = "", skills: Sequence[Skill] = ()) -> str:
    """Give the system prompt of a kind.

    Args:
        spec: The kind.
        instructions: The operator's, as the lead agent has them.
        skills: Those the kind may use.
    """
    parts = [_HEAD, FILES, TOOLS, TRUST]
    if skills:
        parts.append(skills_menu(skills))
    if spec.prompt.strip():
        parts.append(f"Your part\n{spec.prompt.strip()}")
    if instructions.strip():
        parts.append(f"Instructions of the operator\n{instructions.strip()}")
    return "\n\n".join(parts)
