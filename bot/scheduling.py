"""Everything about tasks, put together."""

from datetime import timedelta

from bot.channel_factory import build_policies
from bot.clock import Clock
from bot.commands.tasks import TASKS
from bot.config import Settings
from bot.config.tasks import seconds_of
from bot.directory import ChannelDirectory
from bot.engine.control import stopping
from bot.engine.signals import Signals
from bot.engine.wakes import Wakes
from bot.heartbeats import Heartbeats
from bot.home import Home
from bot.standing import Standings
from bot.store.database import Database
from bot.task_desk import Limits, TaskDesk
from bot.task_planner import TaskPlanner
from bot.tasks import LedgerTasks
from scheduler.dispatcher import TaskDispatcher


class Scheduling:
    """The parts: ``tasks`` in the ledger, the ``dispatcher`` that fires them, the ``desk`` for people, the
    ``planner`` for the agent, and the ``heartbeats``."""

    def __init__(
        self,
        settings: Settings,
        home: Home,
        database: Database,
        channels: ChannelDirectory,
        wakes: Wakes,
        signals: Signals,
        now: Clock,
    ) -> None:
        config = settings.config
        limits = Limits(
            floor=timedelta(seconds=seconds_of(config.scheduling.shortest_interval)),
            per_person=config.scheduling.tasks_per_person,
            zone=config.agent.zone,
        )
        rules = {account: policy.access for account, policy in build_policies(settings).items()}
        standings = Standings(rules)
        self.heartbeats = Heartbeats(database, home)
        self.tasks = LedgerTasks(
            database=database,
            channels=channels,
            heartbeats=self.heartbeats,
            standings=standings,
            wakes=wakes,
            stop=stopping(signals, wakes),
            now=now,
        )
        self.dispatcher = TaskDispatcher(self.tasks, now)
        self.desk = TaskDesk(database, limits, self.dispatcher.run_now, self.heartbeats, now)
        self.planner = TaskPlanner(
            desk=self.desk,
            command=TASKS,
            database=database,
            channels=channels,
            standings=standings,
            wakes=wakes,
            now=now,
        )
