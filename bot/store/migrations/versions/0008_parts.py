"""Messages that were sent as one and came in parts."""

import sqlalchemy as sa
from alembic import op

revision: str = "0008"
down_revision: str | None = "0007"


def upgrade() -> None:
    """Add the columns; empty for whatever came whole."""
    op.add_column("inbound", sa.Column("part_of", sa.String(), nullable=True))
    op.add_column("inbound", sa.Column("joined_to", sa.BigInteger(), nullable=True))
    present = sa.text("part_of IS NOT NULL")
    op.create_index("ix_inbound_part", "inbound", ["part_of"], sqlite_where=present, postgresql_where=present)
