"""Run the measurements and print a table; ``bench/results.json`` gets the same as JSON."""

import argparse
import asyncio
import logging
import tempfile
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg

from bench.chain import cost_per_loop
from bench.figures import Figure, table, write
from bench.growth import bytes_per_turn
from bench.latency import over_telegram, to_the_model
from bench.platforms import loop_lag
from bench.process import footprint
from bench.subagents import side_by_side
from bench.throughput import answers_per_second
from tests.storage import POSTGRES, fresh_postgres

RESULTS = Path(__file__).parent / "results.json"

Measurement = Callable[[Path, str, str | None], Awaitable[list[Figure]]]


def _measurements(*, quick: bool) -> dict[str, Measurement]:
    """By name, in the order they run."""
    messages, turns, seconds = (20, 20, 3.0) if quick else (200, 1000, 10.0)

    return {
        "latency": lambda root, storage, url: to_the_model(root, storage, url, messages),
        "telegram": lambda root, storage, url: over_telegram(root, storage, url, messages),
        "throughput": lambda root, storage, url: answers_per_second(root, storage, url, max(messages, 100)),
        "platforms": loop_lag,
        "chain": lambda root, storage, url: cost_per_loop(root, storage, url, 5 if quick else 20),
        "subagents": lambda root, storage, url: side_by_side(root, storage, url, 2 if quick else 5),
        "growth": lambda root, storage, url: bytes_per_turn(root, storage, url, turns),
        "process": lambda root, storage, url: footprint(root, storage, url, seconds),
    }


@contextmanager
def _database(storage: str) -> Iterator[str | None]:
    if storage == "sqlite":
        yield None
        return
    with fresh_postgres() as url:
        yield url


def _postgres_is_there() -> bool:
    try:
        psycopg.connect(POSTGRES, connect_timeout=3).close()
    except psycopg.OperationalError:
        return False
    return True


def main() -> None:
    """Parse the command line, measure, print and write."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few samples, for a first look")
    parser.add_argument("--storage", choices=("sqlite", "postgres"), help="this one alone")
    names = tuple(_measurements(quick=True))
    parser.add_argument("--only", choices=names, action="append", help="may be repeated")
    options = parser.parse_args()
    logging.disable(logging.WARNING)
    storages = [options.storage] if options.storage else ["sqlite", "postgres"]
    if "postgres" in storages and not _postgres_is_there():
        print(f"No Postgres answers at {POSTGRES.rpartition('@')[2]}; measuring SQLite alone.")
        storages.remove("postgres")
    figures: list[Figure] = []
    with tempfile.TemporaryDirectory(prefix="hart-bench-") as scratch:
        for storage in storages:
            for name, measure in _measurements(quick=options.quick).items():
                if options.only and name not in options.only:
                    continue
                print(f"measuring {name} on {storage} …", flush=True)
                with _database(storage) as url:
                    found = asyncio.run(measure(Path(scratch) / storage / name, storage, url))
                print(table(found), end="\n\n", flush=True)
                figures += found
                write(RESULTS, figures)
    print(table(figures) if figures else "Nothing was measured.")


if __name__ == "__main__":
    main()
