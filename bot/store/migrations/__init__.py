"""Schema migrations, applied at start by :mod:`bot.store.schema`."""
