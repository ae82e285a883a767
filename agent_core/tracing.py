"""No conversation leaves this process by accident."""

from langsmith.run_trees import configure


def disable_stray_tracing() -> None:
    """Turn LangSmith off for the whole process.

    It comes with LangChain and sends every prompt to a cloud service as soon as one variable is
    set in the environment, for whatever program it was set.
    """
    configure(enabled=False)
