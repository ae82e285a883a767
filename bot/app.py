"""The whole of Hart, put together: what is started in which order, and stopped in the reverse."""

import asyncio
import logging
import os
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

from agent_core.checkpoints import open_checkpoints
from agent_core.models.catalog import ModelCatalog
from agent_core.runtime import AgentRuntime
from agent_core.skills.skill import SkillSet
from bot.agent_chain import chain_parts
from bot.agent_factory import build_catalog, find_skills, open_runtime
from bot.archive import Archive
from bot.channel_factory import build_channels, build_policies
from bot.checks import CredentialChecks
from bot.clock import Clock, new_id, system_clock
from bot.collector import start_spared
from bot.commands.builtin import builtin_commands
from bot.commands.permission import check_commands
from bot.config import Settings
from bot.directory import ChannelDirectory
from bot.engine.advance import ThreadWorker
from bot.engine.control import ControlWorker, stopping
from bot.engine.delivery import DeliveryWorker
from bot.engine.dispatcher import Dispatcher
from bot.engine.engine import Engine
from bot.engine.fence import FenceKeeper
from bot.engine.inprocess import InProcessDispatcher
from bot.engine.intake import Fetcher
from bot.engine.postgres import PostgresDispatcher
from bot.engine.signals import LocalSignals, PostgresSignals, Signals
from bot.engine.steps import observer_from
from bot.engine.wakes import Wakes
from bot.feed import LedgerFeed
from bot.home import Home
from bot.lanes import LaneKind
from bot.pairing import Pairing
from bot.proxy import MessageProxy
from bot.receivers import Receivers
from bot.retention import Retention, sweeping
from bot.roles import LocalRoles, PostgresRoles, Roles
from bot.runner import TaskRunner
from bot.sandboxes import open_sandboxes
from bot.scheduling import Scheduling
from bot.server import bind, local_url, new_token, serving
from bot.serverfile import ServerFile
from bot.standing import Standings
from bot.store.database import Database, libpq_url, postgres_url, sqlite_url
from bot.store.schema import migrate
from bot.task_declarations import declared_tasks
from bot.web import health
from bot.web.pairing import pairing_routes
from bot.web.platforms import beside
from bot.web.tasks import task_routes
from bot.web.threads import thread_routes
from channels.feed import FeedChannel
from channels.web.app import web_app
from channels.web.security import WebSecurity
from channels.web.uploads import UploadLimits
from scheduler.dispatcher import TaskDispatcher

log = logging.getLogger(__name__)

CONTROL_SLOTS = 16
CHAT_SLOTS = 64

CHECK_PATIENCE_SECONDS = 0.9
"""How long the start of everything waits for platforms to say whether our credentials are good. Where one
takes longer, only that one is held up."""


@dataclass(frozen=True, slots=True)
class Parts:
    """Which parts of Hart a process runs.

    Args:
        platforms: Listen on the platforms.
        schedule: Fire tasks when they are due.
        port: Port of the local server instead of the configured one.
    """

    platforms: bool = True
    schedule: bool = True
    port: int | None = None


EMBEDDED = Parts(platforms=False, schedule=False, port=0)
"""What a single command needs when no server runs for its home."""


@dataclass(frozen=True, slots=True)
class Hart:
    """A running Hart.

    Args:
        url: Where its local server listens.
        local_token: Lets commands on this machine in.
        database: The ledger.
        inbox: Takes in messages, as from a channel.
        engine: Does the work.
        scheduler: Fires tasks.
        runtime: The agent.
        home: The folder it works in.
        pairing: Lets people in.
        skills: Those the agent is told of, and what is wrong with others.
    """

    url: str
    local_token: str
    database: Database
    inbox: MessageProxy
    engine: Engine
    scheduler: TaskDispatcher
    runtime: AgentRuntime
    home: Home
    pairing: Pairing
    skills: SkillSet


@dataclass(frozen=True, slots=True)
class _Backend:
    """What is done differently on SQLite and on Postgres."""

    database: Database
    dispatcher: Dispatcher
    signals: Signals
    roles: Roles
    checkpoints_url: str | None


@asynccontextmanager
async def running(
    settings: Settings,
    home: Home,
    environ: Mapping[str, str],
    parts: Parts,
    now: Clock = system_clock,
) -> AsyncIterator[Hart]:
    """Run Hart while the block runs. All that is known by then is checked before anything is started.

    Args:
        settings: The configuration.
        home: Where its files lie.
        environ: The process's environment, for the crash tests' switch.
        parts: What to run.
        now: The clock.

    Raises:
        OperatorError: Something must be mended first; nothing is left half-started.
    """
    config = settings.config
    async with AsyncExitStack() as stack:
        await asyncio.to_thread(home.prepare)
        if config.storage.url is None:
            home.lock()
            stack.callback(home.unlock)
        listener = bind(config.server.host, config.server.port if parts.port is None else parts.port)
        stack.callback(listener.close)
        backend = await _open_backend(settings, home, stack)
        catalog = await asyncio.to_thread(build_catalog, config)
        checkpoints = await stack.enter_async_context(
            open_checkpoints(backend.checkpoints_url, home.checkpoints)
        )
        sandboxes = await stack.enter_async_context(open_sandboxes(config.sandbox, home, now))
        skills = await asyncio.to_thread(find_skills, settings)
        feed = LedgerFeed(backend.database, home, backend.signals)
        channels = ChannelDirectory(build_channels(settings, home, feed))
        for channel in channels:
            stack.push_async_callback(channel.close)
        wakes = Wakes(backend.dispatcher, now)
        scheduling = Scheduling(settings, home, backend.database, channels, wakes, backend.signals, now)
        asks = await asyncio.to_thread(chain_parts, config, backend.database, now)
        runtime = await stack.enter_async_context(
            open_runtime(settings, catalog, checkpoints, sandboxes, asks, skills.skills, scheduling.planner)
        )
        checks = CredentialChecks(channels)
        stack.push_async_callback(checks.close)
        await checks.settle(CHECK_PATIENCE_SECONDS)

        assembly = _Assembly(
            settings, home, backend, catalog, runtime, channels, scheduling, wakes, environ, now, skills
        )
        await scheduling.tasks.reconcile(declared_tasks(settings))
        scheduler = scheduling.dispatcher
        receivers = Receivers(channels, assembly.proxy, backend.roles, checks.of)
        closing = asyncio.Event()
        token = new_token()
        app = web_app(
            {channel.name: channel for channel in channels if isinstance(channel, FeedChannel)},
            assembly.proxy,
            feed,
            closing,
            _security(settings, token),
            limits=UploadLimits(file_bytes=config.limits.attachment_mb << 20),
        )
        app.include_router(health.health_routes(receivers.broken))
        app.include_router(task_routes(TaskRunner(scheduler, backend.database, now), backend.database))

        app.include_router(pairing_routes(assembly.pairing))
        conversations = Archive(backend.database, runtime, home)
        app.include_router(thread_routes(conversations, token))

        await assembly.engine.start()
        stack.push_async_callback(assembly.engine.close)
        await stack.enter_async_context(serving(beside(app, channels), listener, closing))
        url = local_url(listener)
        server_file = ServerFile(url, token, os.getpid())
        await asyncio.to_thread(server_file.write, home.server_file)
        stack.callback(server_file.remove, home.server_file)
        stack.push_async_callback(assembly.engine.drain, config.limits.drain_seconds)
        if parts.schedule:
            await scheduler.start()
            stack.push_async_callback(scheduler.stop)
            if config.retention.any:
                retention = Retention(config.retention, backend.database, conversations, home, now)
                await stack.enter_async_context(sweeping(retention, backend.roles))
        if parts.platforms:
            receivers.start()
            stack.push_async_callback(receivers.stop)
        await checks.settle()
        stack.enter_context(start_spared())
        yield Hart(
            url=url,
            local_token=token,
            database=backend.database,
            inbox=assembly.proxy,
            engine=assembly.engine,
            scheduler=scheduler,
            runtime=runtime,
            home=home,
            pairing=assembly.pairing,
            skills=skills,
        )


async def _open_backend(settings: Settings, home: Home, stack: AsyncExitStack) -> _Backend:
    slots = {
        LaneKind.THREAD: settings.config.limits.concurrent_runs,
        LaneKind.CONTROL: CONTROL_SLOTS,
        LaneKind.CHAT: CHAT_SLOTS,
    }
    configured = settings.config.storage.url
    if configured is None:
        database = Database(sqlite_url(home.ledger))
    else:
        database = Database(postgres_url(configured.get_secret_value()))
    stack.push_async_callback(database.close)
    await asyncio.to_thread(migrate, database)
    if configured is None:
        return _Backend(database, InProcessDispatcher(slots), LocalSignals(), LocalRoles(), None)
    conninfo = libpq_url(database.url)
    return _Backend(
        database,
        PostgresDispatcher(conninfo, slots),
        PostgresSignals(database, conninfo, new_id()),
        PostgresRoles(conninfo),
        conninfo,
    )


def _security(settings: Settings, local_token: str) -> WebSecurity:
    server = settings.config.server
    return WebSecurity(
        allowed_hosts=frozenset(host.lower() for host in server.allowed_hosts),
        token=server.token.get_secret_value() if server.token else None,
        local_token=local_token,
        open_paths=health.PATHS,
    )


class _Assembly:
    """The parts of the engine, joined."""

    def __init__(
        self,
        settings: Settings,
        home: Home,
        backend: _Backend,
        catalog: ModelCatalog,
        runtime: AgentRuntime,
        channels: ChannelDirectory,
        scheduling: Scheduling,
        wakes: Wakes,
        environ: Mapping[str, str],
        now: Clock,
        skills: SkillSet,
    ) -> None:
        database, limits = backend.database, settings.config.limits
        step = observer_from(environ)
        commands = builtin_commands()
        policies = build_policies(settings)
        rules = {account: policy.access for account, policy in policies.items()}
        check_commands(rules, commands)
        standings = Standings(rules)
        fences = FenceKeeper(database)
        stop = stopping(backend.signals, wakes)
        self.pairing = Pairing(database=database, rules=rules, wakes=wakes, stop=stop, now=now)
        threads = ThreadWorker(
            database=database,
            runtime=runtime,
            channels=channels,
            home=home,
            fences=fences,
            wakes=wakes,
            fetcher=Fetcher(channels, limits.attachment_mb << 20),
            models=catalog,
            mode=settings.config.agent.mode,
            standings=standings,
            attempts=limits.attempts,
            now=now,
            step=step,
        )
        control = ControlWorker(
            database=database,
            channels=channels,
            commands=commands,
            skills=skills.skills,
            models=catalog,
            mode=settings.config.agent.mode,
            standings=standings,
            pairing=self.pairing,
            tasks=scheduling.desk,
            stop=stop,
            wakes=wakes,
            now=now,
        )
        delivery = DeliveryWorker(
            database=database,
            channels=channels,
            home=home,
            fences=fences,
            wakes=wakes,
            now=now,
            step=step,
        )
        self.engine = Engine(
            database=database,
            dispatcher=backend.dispatcher,
            signals=backend.signals,
            wakes=wakes,
            fences=fences,
            threads=threads,
            control=control,
            delivery=delivery,
            now=now,
        )
        self.proxy = MessageProxy(
            database=database,
            policies=policies,
            standings=standings,
            commands=commands,
            skills=skills.names,
            channels=channels,
            wakes=wakes,
            now=now,
            step=step,
        )
