"""Which model a thread gets."""

from agent_core.models.catalog import ModelCatalog


def usable_model(models: ModelCatalog, chosen: str | None) -> str:
    """The chosen model's name, or the default's when none was chosen or it is no longer configured."""
    return chosen if chosen in models.names else models.default
