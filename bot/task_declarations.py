"""The tasks of ``config.yaml``, as they are to stand in the ledger."""

from bot.channel_factory import build_policies
from bot.config import Settings, TaskConfig
from bot.config.channels import SessionScope
from bot.proxy import Policy
from bot.store.task_runs import SCHEDULER
from bot.store.tasks import Declared
from bot.task_kinds import TaskContext
from bot.task_spec import declared_spec
from bot.threads import scoped_key
from channels.messages import Address, ChatKind, InboundMessage


def declared_tasks(settings: Settings) -> dict[str, Declared]:
    """All of them, by name."""
    policies = build_policies(settings)
    return {task.name: _declared(task, policies) for task in settings.config.tasks}


def _declared(task: TaskConfig, policies: dict[tuple[str, str], Policy]) -> Declared:
    in_chat = task.context is TaskContext.THREAD
    address = task.targets[0].address()
    policy = policies.get((address.channel, address.account))
    key = conversation_of(address, policy.sessions.group if policy else SessionScope.PER_CHAT)
    return Declared(
        spec=declared_spec(task, key if in_chat else None),
        enabled=task.enabled,
        home=None if task.owner is None else task.owner.address(),
    )


def conversation_of(address: Address, scope: SessionScope) -> str:
    """The key of the conversation that all in a chat share, which is what nobody in particular can join.

    Where a chat's conversations are those of its people, that is the one of the chat as a whole.
    """
    shared = scope if scope in (SessionScope.PER_CHAT, SessionScope.PER_THREAD) else SessionScope.PER_CHAT
    return scoped_key(InboundMessage(address, ChatKind.GROUP, SCHEDULER, "", "", ""), shared)
