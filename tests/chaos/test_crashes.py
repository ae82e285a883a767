"""Processes are killed again and again, and people notice nothing but a marked repeat now and then."""

import pytest

from bot.engine.steps import Step
from tests.chaos.conftest import FULL
from tests.chaos.drive import Drive, Outcome, Plan
from tests.chaos.nodes import Nodes
from tests.chaos.oracle import repeats, violations
from tests.chaos.script import SCRIPT
from tests.emulators.openai import OpenAIEmulator
from tests.emulators.telegram import TelegramEmulator
from tests.hart import Site

pytestmark = [pytest.mark.xdist_group("chaos"), pytest.mark.timeout(1800 if FULL else 300)]

EVERY_STEP = tuple(Step)
MESSAGES, CHATS, KILLS, SECONDS = (200, 12, 14, 1500.0) if FULL else (40, 6, 5, 240.0)


async def test_on_sqlite_nothing_is_lost_or_muddled_whenever_the_process_dies(
    sqlite_site: Site, sqlite_nodes: Nodes, telegram: TelegramEmulator, openai: OpenAIEmulator
) -> None:
    plan = Plan(1, 1, MESSAGES, CHATS, KILLS, EVERY_STEP, SECONDS)
    outcome = await _drive(plan, sqlite_site, sqlite_nodes, telegram, openai)
    assert violations(outcome.observed, SCRIPT) == []
    assert set(outcome.deaths) == set(EVERY_STEP)


@pytest.mark.postgres
async def test_on_postgres_nothing_is_lost_or_muddled_whichever_node_dies(
    postgres_site: Site, postgres_nodes: Nodes, telegram: TelegramEmulator, openai: OpenAIEmulator
) -> None:
    plan = Plan(2, 2, MESSAGES, CHATS, KILLS, EVERY_STEP if FULL else (), SECONDS)
    outcome = await _drive(plan, postgres_site, postgres_nodes, telegram, openai)
    assert violations(outcome.observed, SCRIPT) == []
    assert set(outcome.deaths) == set(plan.faults)


async def _drive(
    plan: Plan, site: Site, nodes: Nodes, telegram: TelegramEmulator, openai: OpenAIEmulator
) -> Outcome:
    # Here a message may meet more crashes than a real one would in its life.
    site.config["limits"] = {"attempts": 1000}
    site.write()
    outcome = await Drive(plan, site, nodes, telegram, openai).run()
    _print_table(outcome)
    return outcome


def _print_table(outcome: Outcome) -> None:
    seen, counted = outcome.observed, repeats(outcome.observed)
    rows = {
        "messages": len(seen.said),
        "posts": len(seen.posted),
        "kills at random": outcome.kills,
        "deaths at a step": outcome.deaths.total(),
        "repeats, marked": counted.marked,
        "repeats, not marked": counted.unmarked,
        "model asked again": counted.requests,
        "seconds": round(outcome.seconds),
    }
    print()
    for name, value in rows.items():
        print(f"{name:<20}{value:>6}")
