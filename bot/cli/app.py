"""The commands there are."""

import typer

from bot.cli import config, tasks
from bot.cli.chat import chat
from bot.cli.run import run
from bot.config import Settings


def _check_models(settings: Settings) -> None:
    # Imported here: the model libraries take seconds to load, and most commands do without.
    from bot.agent_factory import build_catalog

    build_catalog(settings.config)


app = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Hart: an agent team-mate for your chats.",
)
app.command("run")(run)
app.command("chat")(chat)
app.add_typer(tasks.app, name="tasks")
app.add_typer(config.make_app(_check_models), name="config")
