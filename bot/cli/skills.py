"""``hart skills``: list and check the skills."""

import json
import os
from pathlib import Path
from typing import Annotated

import typer

from agent_core.skills.loader import load_skills
from bot.cli.environment import ConfigDirectory
from bot.config import load
from channels.console.render import plain

app = typer.Typer(no_args_is_help=True, help="List and check the skills.")


@app.command("list")
def list_skills(
    config: ConfigDirectory = Path(),
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List the skills that can be used. A running Hart knows those of its start."""
    skills = load_skills(load(config, os.environ).skills_directory).skills
    if as_json:
        found = [
            {
                "name": skill.name,
                "source": skill.source,
                "description": skill.description,
                "license": skill.license,
                "allowed_tools": skill.allowed_tools,
                "metadata": dict(skill.metadata),
            }
            for skill in skills
        ]
        print(json.dumps(found, indent=2, ensure_ascii=False))
        return
    if not skills:
        print("There are no skills.")
    for skill in skills:
        print(f"{skill.name}  ({skill.source})  {plain(skill.description)}")


@app.command("validate")
def validate(config: ConfigDirectory = Path()) -> None:
    """Say what is wrong with skills; exit code 1 if something is."""
    found = load_skills(load(config, os.environ).skills_directory)
    for problem in found.problems:
        print(problem)
    sound = len(found.skills)
    print(f"{sound} {'skill' if sound == 1 else 'skills'} can be used.")
    if found.problems:
        raise typer.Exit(1)
