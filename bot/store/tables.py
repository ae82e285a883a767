"""The ledger's tables. A change here needs a migration in ``bot/store/migrations/versions``."""

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import BigInteger, Column, DateTime, Dialect, Index, Integer, Text, TypeDecorator, text
from sqlmodel import Field, SQLModel, UniqueConstraint

from bot.store.states import DeliveryState, RunState


class UtcDateTime(TypeDecorator[datetime]):
    """Aware datetimes in, aware UTC datetimes out, also on SQLite, which keeps no zone."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Refuse naive times: a zone that was lost here is never found again."""
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError("naive datetime")
        return value.astimezone(UTC)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Put the zone back that SQLite dropped."""
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


def _row_id() -> Any:
    return Field(
        default=None,
        sa_column=Column(
            BigInteger().with_variant(Integer, "sqlite"), primary_key=True, autoincrement=True, nullable=False
        ),
    )


def _time(*, nullable: bool = False) -> Any:
    return Field(default=None, sa_column=Column(UtcDateTime(), nullable=nullable))


def _text(*, nullable: bool = False, default: str | None = None) -> Any:
    return Field(default=default, sa_column=Column(Text(), nullable=nullable))


class User(SQLModel, table=True):
    """A person as one platform knows them."""

    __tablename__ = "users"
    __table_args__ = (UniqueConstraint("channel", "account", "platform_id"),)

    id: int | None = _row_id()
    channel: str
    account: str
    platform_id: str
    name: str
    first_seen_at: datetime = _time()


class Thread(SQLModel, table=True):
    """One conversation. ``key`` says whose; ``/new`` opens the next generation under the same key."""

    __tablename__ = "threads"
    __table_args__ = (UniqueConstraint("key", "generation"),)

    id: str = Field(primary_key=True)
    key: str
    generation: int
    opened_by: str = Field(unique=True)  # dedupe key of what opened it: opening twice is a no-op
    model: str | None = None
    mode: str | None = None
    forked_from: str | None = None  # the thread whose state it begins with
    created_at: datetime = _time()


class Lane(SQLModel, table=True):
    """Who may act on a key. The epoch rises at each take-over; an older one may write nothing."""

    __tablename__ = "lanes"

    name: str = Field(primary_key=True)
    epoch: int = Field(default=0, sa_column=Column(BigInteger(), nullable=False))


class Inbound(SQLModel, table=True):
    """Something that came in. ``done_at`` is empty while it is open; ids give the order of a lane.

    Of the parts of what was sent as one, ``joined_to`` is the row whose run takes them all, itself included,
    from when that run begins.
    """

    __tablename__ = "inbound"
    __table_args__ = (
        Index("ix_inbound_open", "done_at", "lane", "id"),
        Index("ix_inbound_chat", "channel", "account", "chat_id", "id"),
        Index("ix_inbound_thread", "thread_id", "id"),
        Index(
            "ix_inbound_part",
            "part_of",
            sqlite_where=text("part_of IS NOT NULL"),
            postgresql_where=text("part_of IS NOT NULL"),
        ),
    )

    id: int | None = _row_id()
    dedupe_key: str = Field(unique=True)
    kind: str
    lane: str | None = None
    thread_id: str | None = None
    channel: str
    account: str
    chat_id: str
    platform_thread: str | None = None
    sender_id: str
    message_id: str
    text: str = _text()
    body: str = _text()  # the InboundMessage but its text, or for a rejected row what came, as JSON or text
    targets: str | None = _text(nullable=True)  # addresses of the answer when not the message's own, as JSON
    note: str | None = _text(nullable=True)
    part_of: str | None = None  # equal for the parts of what was sent as one
    joined_to: int | None = Field(default=None, sa_column=Column(BigInteger(), nullable=True))
    received_at: datetime = _time()
    done_at: datetime | None = _time(nullable=True)


class Run(SQLModel, table=True):
    """The work on one inbound row. At most one run of a thread is ``running``."""

    __tablename__ = "runs"
    __table_args__ = (Index("ix_runs_thread", "thread_id", "started_at"),)

    id: str = Field(primary_key=True)
    thread_id: str
    inbound_id: int = Field(sa_column=Column(BigInteger(), nullable=False, unique=True))
    state: str = RunState.RUNNING
    model: str | None = None
    mode: str | None = None
    attempts: int = 0
    not_before: datetime | None = _time(nullable=True)
    stop_requested_at: datetime | None = _time(nullable=True)
    intake: str | None = _text(nullable=True)  # what became of the message's files, as JSON, once known
    started_at: datetime = _time()
    finished_at: datetime | None = _time(nullable=True)
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    context_tokens: int = 0
    cost: float | None = None  # US dollars; empty where the model has no prices
    answer: str | None = _text(nullable=True)
    error: str | None = _text(nullable=True)


class Delivery(SQLModel, table=True):
    """One message to post: a piece of text or one file. Ids give the order of a chat."""

    __tablename__ = "deliveries"
    __table_args__ = (
        Index("ix_deliveries_open", "state", "lane", "id"),
        Index("ix_deliveries_chat", "channel", "account", "chat_id", "id"),
        Index("ix_deliveries_run", "run_id"),
        Index(
            "ix_deliveries_thread",
            *("channel", "account", "chat_id", "platform_thread"),
            sqlite_where=text("platform_thread IS NOT NULL"),
            postgresql_where=text("platform_thread IS NOT NULL"),
        ),
    )

    id: int | None = _row_id()
    key: str = Field(unique=True)
    lane: str
    run_id: str | None = None
    channel: str
    account: str
    chat_id: str
    platform_thread: str | None = None
    in_reply_to: str | None = None
    quote: bool = False  # show it as a reply to in_reply_to, where the platform can
    final: bool = False
    text: str | None = _text(nullable=True)
    buttons: str | None = _text(nullable=True)  # below the text, as JSON
    pairing_id: str | None = None  # the request whose code is put in as the text is sent
    reply_via: str | None = _text(nullable=True)  # where it can go if we may not write there; until settled
    file_path: str | None = _text(nullable=True)  # relative to the home
    file_name: str | None = _text(nullable=True)
    file_mime: str | None = None
    file_size: int | None = Field(default=None, sa_column=Column(BigInteger(), nullable=True))
    state: str = DeliveryState.OPEN
    attempts: int = 0
    possible_repeat: bool = False
    unsettled_since: datetime | None = _time(nullable=True)  # the first try that may have reached people
    not_before: datetime | None = _time(nullable=True)
    receipt: str | None = _text(nullable=True)
    error: str | None = _text(nullable=True)
    created_at: datetime = _time()
    sent_at: datetime | None = _time(nullable=True)


class Task(SQLModel, table=True):
    """Work on a schedule: a declared one, or one that somebody made in a chat."""

    __tablename__ = "tasks"
    __table_args__ = (Index("ix_tasks_owner", "owner_channel", "owner_account", "owner_id"),)

    name: str = Field(primary_key=True)
    schedule: str = _text()  # all that says when it fires, as text: another text is another start point
    first_seen_at: datetime = _time()  # the start point: nothing fires for the time before
    origin: str
    state: str
    spec: str = _text()  # the TaskSpec, as JSON
    proposal: str | None = _text(nullable=True)  # a TaskSpec that waits to be confirmed, as JSON
    proposed_at: datetime | None = _time(nullable=True)
    owner_channel: str | None = None
    owner_account: str | None = None
    owner_id: str | None = None
    home: str | None = _text(nullable=True)  # where the owner is told of failures: an address, as JSON
    failures: int = 0
    alerted_at: datetime | None = _time(nullable=True)
    note: str | None = _text(nullable=True)  # why it stands where it stands


class TaskRun(SQLModel, table=True):
    """One occurrence of a task. The key makes it one on any number of nodes.

    Whether people got its outcome is told by the deliveries of its run, or by ``suppressed``.
    """

    __tablename__ = "task_runs"
    __table_args__ = (
        Index("ix_task_runs_inbound", "inbound_id"),
        Index("ix_task_runs_state", "state", "retry_at"),
    )

    task: str = Field(primary_key=True)
    scheduled_for: datetime = Field(sa_column=Column(UtcDateTime(), primary_key=True))
    trigger: str
    state: str
    fired_at: datetime = _time()
    left_out: int = 0
    tries: int = 0
    inbound_id: int | None = Field(default=None, sa_column=Column(BigInteger(), nullable=True))
    retry_at: datetime | None = _time(nullable=True)
    finished_at: datetime | None = _time(nullable=True)
    note: str | None = _text(nullable=True)  # why it was skipped, or what went wrong
    suppressed: str | None = None  # why nobody is told of the outcome


class Zone(SQLModel, table=True):
    """The time zone that a person or a chat has chosen."""

    __tablename__ = "zones"

    key: str = Field(primary_key=True)
    zone: str


class Grant(SQLModel, table=True):
    """Somebody who was let in. Removing the row shuts them out."""

    __tablename__ = "grants"

    channel: str = Field(primary_key=True)
    account: str = Field(primary_key=True)
    user_id: str = Field(primary_key=True)
    name: str
    role: str
    granted_by: str
    granted_at: datetime = _time()
    approval: str = Field(unique=True)  # which approval it came from: carrying that out twice is a no-op


class PairingRequest(SQLModel, table=True):
    """A stranger who waits to be let in, and what can be told of their code without knowing it."""

    __tablename__ = "pairing_requests"
    __table_args__ = (UniqueConstraint("channel", "account", "user_id"),)

    id: str = Field(primary_key=True)
    channel: str
    account: str
    user_id: str
    chat_id: str
    platform_thread: str | None = None
    name: str
    salt: str | None = None  # empty until the code is sent
    code_hash: str | None = None
    created_at: datetime = _time()
    code_at: datetime | None = _time(nullable=True)


class Lockout(SQLModel, table=True):
    """Wrong codes of one approver, or the lock of one account's requests, by key."""

    __tablename__ = "lockouts"

    key: str = Field(primary_key=True)
    failures: int = 0
    first_failed_at: datetime | None = _time(nullable=True)
    locked_until: datetime | None = _time(nullable=True)


class Action(SQLModel, table=True):
    """A button: a command that waits to be given by pressing it, once."""

    __tablename__ = "actions"
    __table_args__ = (Index("ix_actions_expires", "expires_at"),)

    id: str = Field(primary_key=True)
    command: str = _text()
    channel: str
    account: str
    chat_id: str
    sender_id: str | None = None  # who may press it; empty for everybody who is heard
    created_at: datetime = _time()
    expires_at: datetime = _time()
    used_at: datetime | None = _time(nullable=True)
    used_by: str | None = None
