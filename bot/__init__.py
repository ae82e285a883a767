"""The hall: joins the platforms, the agent and the scheduler into one durable service."""
