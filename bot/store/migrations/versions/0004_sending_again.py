"""What sending a second time needs to know of the first, and where else an answer can go."""

import sqlalchemy as sa
from alembic import op

revision: str = "0004"
down_revision: str | None = "0003"


def upgrade() -> None:
    """Add the columns. Of deliveries that are under way nobody knows when they were first tried."""
    op.add_column("deliveries", sa.Column("reply_via", sa.Text(), nullable=True))
    op.add_column("deliveries", sa.Column("unsettled_since", sa.DateTime(timezone=True), nullable=True))
    op.execute("UPDATE deliveries SET unsettled_since = created_at WHERE state = 'sending'")
