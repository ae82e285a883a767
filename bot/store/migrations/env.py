"""Alembic's entry: runs the migrations on the connection that :mod:`bot.store.schema` hands over."""

from alembic import context
from sqlmodel import SQLModel

import bot.store.tables  # noqa: F401  (fills the metadata)

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=SQLModel.metadata,
    render_as_batch=True,
)
with context.begin_transaction():
    context.run_migrations()
