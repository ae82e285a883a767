"""The ledger: what came in, what was done about it, and what went out.

Tables are in :mod:`bot.store.tables`; each of the other modules holds the queries of one concern, as plain
functions over a session. :class:`bot.store.database.Database` runs them.
"""
