"""Who was let in, who waits to be, and buttons."""

import sqlalchemy as sa
from alembic import op

revision: str = "0003"
down_revision: str | None = "0002"


def upgrade() -> None:
    """Create the tables, and what deliveries need for them."""
    op.add_column("deliveries", sa.Column("buttons", sa.Text(), nullable=True))
    op.add_column("deliveries", sa.Column("pairing_id", sa.String(), nullable=True))
    op.create_index(
        "ix_deliveries_thread",
        "deliveries",
        ["channel", "account", "chat_id", "platform_thread"],
        sqlite_where=sa.text("platform_thread IS NOT NULL"),
        postgresql_where=sa.text("platform_thread IS NOT NULL"),
    )

    op.create_table(
        "actions",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("command", sa.Text(), nullable=False),
        sa.Column("channel", sa.String(), nullable=False),
        sa.Column("account", sa.String(), nullable=False),
        sa.Column("chat_id", sa.String(), nullable=False),
        sa.Column("sender_id", sa.String(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("used_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("used_by", sa.String(), nullable=True),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("ix_actions_expires", "actions", ["expires_at"])
    op.create_table(
        "grants",
        sa.Column("channel", sa.String(), nullable=False),
        sa.Column("account", sa.String(), nullable=False),
        sa.Column("user_id", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("role", sa.String(), nullable=False),
        sa.Column("granted_by", sa.String(), nullable=False),
        sa.Column("granted_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("approval", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("channel", "account", "user_id"),
        sa.UniqueConstraint("approval"),
    )
    op.create_table(
        "lockouts",
        sa.Column("key", sa.String(), nullable=False),
        sa.Column("failures", sa.Integer(), nullable=False),
        sa.Column("first_failed_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("locked_until", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("key"),
    )
    op.create_table(
        "pairing_requests",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("channel", sa.String(), nullable=False),
        sa.Column("account", sa.String(), nullable=False),
        sa.Column("user_id", sa.String(), nullable=False),
        sa.Column("chat_id", sa.String(), nullable=False),
        sa.Column("platform_thread", sa.String(), nullable=True),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("salt", sa.String(), nullable=True),
        sa.Column("code_hash", sa.String(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("code_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("channel", "account", "user_id"),
    )
