"""The commands there are."""

import typer

from bot.cli import config, tasks
from bot.cli.chat import chat
from bot.cli.run import run

app = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Hart: an agent team-mate for your chats.",
)
app.command("run")(run)
app.command("chat")(chat)
app.add_typer(tasks.app, name="tasks")
app.add_typer(config.app, name="config")
