"""Durable execution: who works on what, exactly once, whatever dies when.

Three idempotent functions do all the work. :meth:`~bot.engine.advance.ThreadWorker.advance` runs a thread's
messages, :meth:`~bot.engine.control.ControlWorker.control` answers commands, and
:meth:`~bot.engine.delivery.DeliveryWorker.deliver` sends a chat's open deliveries. Anyone may call them at
any time; a :class:`~bot.engine.dispatcher.Dispatcher` sees to it that someone does.
"""
