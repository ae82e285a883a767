"""The tables of Procrastinate, which wakes lanes across nodes on Postgres.

The schema is the one shipped with the installed release. Moving to a release with another schema needs a
migration here that runs the SQL files from its ``sql/migrations`` folder.
"""

from alembic import op
from procrastinate.schema import SchemaManager

revision: str = "0002"
down_revision: str | None = "0001"


def upgrade() -> None:
    """Create them; SQLite dispatches in process and needs none."""
    connection = op.get_bind()
    if connection.dialect.name == "postgresql":
        # The bare driver cursor: many statements at once, and no reading of % as a placeholder.
        connection.connection.cursor().execute(SchemaManager.get_schema())
