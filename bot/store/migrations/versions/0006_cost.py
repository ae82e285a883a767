"""What each run cost."""

import sqlalchemy as sa
from alembic import op

revision: str = "0006"
down_revision: str | None = "0005"


def upgrade() -> None:
    """Add the column, in US dollars; empty where the model has no prices."""
    op.add_column("runs", sa.Column("cost", sa.Float(), nullable=True))
