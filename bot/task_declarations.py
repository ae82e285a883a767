"""The tasks of ``config.yaml``, as they are to stand in the ledger."""

from bot.access import LOCAL_CHANNELS
from bot.channel_factory import build_policies
from bot.config import Settings, TaskConfig
from bot.config.channels import Sessions, SessionScope
from bot.proxy import Policy
from bot.store.task_runs import SCHEDULER
from bot.store.tasks import Declared
from bot.task_kinds import TaskContext
from bot.task_spec import declared_spec
from bot.threads import scoped_key
from channels.messages import Address, ChatKind, InboundMessage, Sender


def declared_tasks(settings: Settings) -> dict[str, Declared]:
    """All of them, by name."""
    policies = build_policies(settings)
    return {task.name: _declared(task, policies) for task in settings.config.tasks}


def _declared(task: TaskConfig, policies: dict[tuple[str, str], Policy]) -> Declared:
    in_chat = task.context is TaskContext.THREAD
    address = task.targets[0].address()
    policy = policies.get((address.channel, address.account))
    key = conversation_of(address, policy.sessions if policy else Sessions())
    return Declared(
        spec=declared_spec(task, key if in_chat else None),
        enabled=task.enabled,
        home=None if task.owner is None else task.owner.address(),
    )


def conversation_of(address: Address, sessions: Sessions) -> str:
    """The key of a chat's own conversation, which a task with ``context: thread`` joins.

    On this machine and in a private chat on Telegram, whose id is that of the person, it is theirs; else it
    is the one that all in a group share. Where a group's conversations are those of its people, that is the
    one of the group as a whole.
    """
    private = address.channel == "telegram" and not address.chat_id.startswith("-")
    if private or address.channel in LOCAL_CHANNELS:
        sender = Sender(address.chat_id) if private else SCHEDULER
        return scoped_key(InboundMessage(address, ChatKind.DIRECT, sender, "", "", ""), sessions.direct)
    scope = sessions.group
    shared = scope if scope in (SessionScope.PER_CHAT, SessionScope.PER_THREAD) else SessionScope.PER_CHAT
    return scoped_key(InboundMessage(address, ChatKind.GROUP, SCHEDULER, "", "", ""), shared)
