"""Tasks that live in the ledger, and each occurrence with how it went."""

import sqlalchemy as sa
from alembic import op

revision: str = "0007"
down_revision: str | None = "0006"


def upgrade() -> None:
    """Make the tables anew, as SQLite cannot change columns; fires that were are kept as done.

    Declared tasks are filled in from the configuration at the next start, without a new start point.
    """
    time = sa.DateTime(timezone=True)
    op.create_table(
        "task_runs",
        sa.Column("task", sa.String(), primary_key=True),
        sa.Column("scheduled_for", time, primary_key=True),
        sa.Column("trigger", sa.String(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("fired_at", time, nullable=False),
        sa.Column("left_out", sa.Integer(), nullable=False),
        sa.Column("tries", sa.Integer(), nullable=False),
        sa.Column("inbound_id", sa.BigInteger(), nullable=True),
        sa.Column("retry_at", time, nullable=True),
        sa.Column("finished_at", time, nullable=True),
        sa.Column("note", sa.Text(), nullable=True),
        sa.Column("suppressed", sa.String(), nullable=True),
    )
    op.create_index("ix_task_runs_inbound", "task_runs", ["inbound_id"])
    op.create_index("ix_task_runs_state", "task_runs", ["state", "retry_at"])
    op.execute(
        "INSERT INTO task_runs "
        "(task, scheduled_for, trigger, state, fired_at, left_out, tries, inbound_id, finished_at) "
        "SELECT f.task, f.scheduled_for, 'schedule', "
        "CASE WHEN i.done_at IS NULL THEN 'running' ELSE 'done' END, "
        "f.fired_at, f.left_out, 1, f.inbound_id, i.done_at "
        "FROM task_fires f JOIN inbound i ON i.id = f.inbound_id"
    )
    op.drop_table("task_fires")
    op.create_table(
        "tasks_kept",
        sa.Column("name", sa.String(), primary_key=True),
        sa.Column("schedule", sa.Text(), nullable=False),
        sa.Column("first_seen_at", time, nullable=False),
        sa.Column("origin", sa.String(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("spec", sa.Text(), nullable=False),
        sa.Column("proposal", sa.Text(), nullable=True),
        sa.Column("proposed_at", time, nullable=True),
        sa.Column("owner_channel", sa.String(), nullable=True),
        sa.Column("owner_account", sa.String(), nullable=True),
        sa.Column("owner_id", sa.String(), nullable=True),
        sa.Column("home", sa.Text(), nullable=True),
        sa.Column("failures", sa.Integer(), nullable=False),
        sa.Column("alerted_at", time, nullable=True),
        sa.Column("note", sa.Text(), nullable=True),
    )
    op.execute(
        "INSERT INTO tasks_kept (name, schedule, first_seen_at, origin, state, spec, failures) "
        "SELECT name, schedule, first_seen_at, 'config', "
        "CASE WHEN schedule LIKE '% on' THEN 'active' ELSE 'paused' END, '', 0 FROM tasks"
    )
    op.drop_table("tasks")
    op.rename_table("tasks_kept", "tasks")
    op.create_index("ix_tasks_owner", "tasks", ["owner_channel", "owner_account", "owner_id"])
