"""The mode of a thread, and of each run."""

import sqlalchemy as sa
from alembic import op

revision: str = "0005"
down_revision: str | None = "0004"


def upgrade() -> None:
    """Add the columns; empty for the configured default."""
    op.add_column("threads", sa.Column("mode", sa.String(), nullable=True))
    op.add_column("runs", sa.Column("mode", sa.String(), nullable=True))
