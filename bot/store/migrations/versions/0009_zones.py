"""Time zones of people and chats; threads that go on from where another stands."""

import sqlalchemy as sa
from alembic import op

revision: str = "0009"
down_revision: str | None = "0008"


def upgrade() -> None:
    """Make the table and add the column."""
    op.create_table(
        "zones",
        sa.Column("key", sa.String(), primary_key=True),
        sa.Column("zone", sa.String(), nullable=False),
    )
    op.add_column("threads", sa.Column("forked_from", sa.String(), nullable=True))
