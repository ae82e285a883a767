"""The commands there are."""

import typer

from bot.cli import config, pairing, sandbox, skills, tasks, threads
from bot.cli.chat import chat
from bot.cli.run import run
from bot.config import Settings


def _check_parts(settings: Settings) -> None:
    # Imported here: the model libraries take seconds to load, and most commands do without.
    from bot.agent_factory import build_catalog
    from bot.channel_factory import build_policies
    from bot.commands.builtin import builtin_commands
    from bot.commands.permission import check_commands

    build_catalog(settings.config)
    rules = {account: policy.access for account, policy in build_policies(settings).items()}
    check_commands(rules, builtin_commands())


app = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Hart: an agent team-mate for your chats.",
)
app.command("run")(run)
app.command("chat")(chat)
app.add_typer(tasks.app, name="tasks")
app.add_typer(threads.app, name="threads")
app.add_typer(pairing.app, name="pairing")
app.add_typer(sandbox.app, name="sandbox")
app.add_typer(skills.app, name="skills")
app.add_typer(config.make_app(_check_parts), name="config")
