"""${message}."""

import sqlalchemy as sa
from alembic import op
${imports if imports else ""}
revision: str = ${repr(up_revision)}
down_revision: str | None = ${repr(down_revision)}


def upgrade() -> None:
    """Apply. There is no way back but a backup: an older Hart refuses a newer schema."""
    ${upgrades if upgrades else "pass"}
