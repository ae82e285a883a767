"""What keeps Hart from starting is one clear line, and nothing is left half-started."""

import shutil
import socket
import sqlite3
import subprocess

import psycopg
import pytest

from bot.home import Home
from tests.cli.process import Outcome, run_hart
from tests.emulators.telegram import TelegramEmulator
from tests.hart import Site
from tests.storage import fresh_postgres

SECONDS = 60.0
"""Most that a start which fails may take. It takes two or three, but other tests keep the machine busy."""


async def failed_start(site: Site, *under: str) -> str:
    """Start Hart, see that it fails as it should, and give its one line."""
    outcome = await run_hart(site, "run", "--no-console", under=under)
    return _one_line(site, outcome)


def _one_line(site: Site, outcome: Outcome) -> str:
    lines = outcome.err.splitlines()
    assert outcome.code == 2, outcome
    assert len(lines) == 1, outcome.err
    assert outcome.out == ""
    assert outcome.seconds < SECONDS
    assert not (site.home / "server.json").exists()
    return lines[0]


class TestConfiguration:
    @pytest.mark.parametrize("command", [("run", "--no-console"), ("config", "check")], ids=" ".join)
    async def test_a_wrong_key_is_named_with_its_line(self, site: Site, command: tuple[str, ...]) -> None:
        site.config["agnt"] = {"instructions": "x"}
        outcome = await run_hart(site, *command)
        line = _one_line(site, outcome)
        assert line.removeprefix("hart: ") == 'config.yaml:4: agnt: unknown key; did you mean "agent"?'
        assert not site.home.exists()

    async def test_a_variable_that_is_not_set_is_named(self, site: Site) -> None:
        site.config["storage"] = {"url": "$NOT_SET_ANYWHERE"}
        assert "NOT_SET_ANYWHERE" in await failed_start(site)

    @pytest.mark.parametrize("command", [("run", "--no-console"), ("config", "check")], ids=" ".join)
    async def test_a_model_class_that_is_not_there_is_found_at_start(
        self, site: Site, command: tuple[str, ...]
    ) -> None:
        site.config["models"] = [{"name": "main", "use": "no_such_package.models:Model"}]
        line = _one_line(site, await run_hart(site, *command))
        assert "config.yaml: " in line
        assert "no_such_package" in line


class TestSurroundings:
    async def test_a_token_that_telegram_does_not_know(self, site: Site, telegram: TelegramEmulator) -> None:
        wrong = "7100200300:AAE-not-the-one-0123456789abcdefghij"
        site.use_telegram(telegram, token=wrong)
        line = await failed_start(site)
        assert line.startswith("hart: telegram/main: Telegram does not accept the token of account 'main'")
        assert wrong.partition(":")[2] not in line

    async def test_a_port_that_is_taken(self, site: Site) -> None:
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
            site.config["server"] = {"port": port}
            line = await failed_start(site)
        assert line.startswith(f"hart: Port {port} on 127.0.0.1 cannot be used: Address already in use. ")

    async def test_a_home_that_cannot_be_written(self, site: Site) -> None:
        site.home.write_text("a file")
        line = await failed_start(site)
        assert line.startswith(f"hart: HART_HOME {site.home} cannot be written: ")

    async def test_a_home_in_which_another_hart_works(self, site: Site) -> None:
        home = Home(site.home)
        home.prepare()
        home.lock()
        try:
            line = await failed_start(site)
        finally:
            home.unlock()
        assert line.startswith(f"hart: Another Hart is working in {site.home}. ")

    @pytest.mark.parametrize("size", ["4k", "80k"])
    async def test_a_disk_that_is_full(self, site: Site, size: str) -> None:
        if not _can_mount():
            pytest.skip("no user namespaces here, so no small disk can be mounted")
        site.home.mkdir()
        script = f'mount -t tmpfs -o size={size} tmpfs "{site.home}" && exec "$@"'
        line = await failed_start(site, "unshare", "-rm", "sh", "-c", script, "sh")
        assert "full" in line or "No space left on device" in line
        assert str(site.home) in line


def _can_mount() -> bool:
    return shutil.which("unshare") is not None and not subprocess.run(["unshare", "-rm", "true"]).returncode


class TestStorage:
    async def test_a_newer_schema_on_sqlite(self, site: Site) -> None:
        site.home.mkdir()
        with sqlite3.connect(site.home / "ledger.db") as ledger:
            ledger.execute("CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL)")
            ledger.execute("INSERT INTO alembic_version VALUES ('9999')")
        ledger.close()
        line = await failed_start(site)
        assert line.startswith("hart: The database's schema (9999) is newer than this version of Hart. ")

    @pytest.mark.postgres
    async def test_a_newer_schema_on_postgres(self, site: Site) -> None:
        with fresh_postgres() as url:
            with psycopg.connect(url) as ledger:
                ledger.execute("CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL)")
                ledger.execute("INSERT INTO alembic_version VALUES ('9999')")
            site.database_url = url
            line = await failed_start(site)
        assert line.startswith("hart: The database's schema (9999) is newer than this version of Hart. ")

    async def test_a_postgres_that_is_not_there(self, site: Site) -> None:
        site.database_url = "postgresql://hart:hunter2@127.0.0.1:9/hart"
        line = await failed_start(site)
        assert "cannot be used" in line
        assert "127.0.0.1" in line
        assert "hunter2" not in line

    async def test_a_file_that_is_no_database(self, site: Site) -> None:
        site.home.mkdir()
        (site.home / "ledger.db").write_bytes(b"not a database at all" * 100)
        line = await failed_start(site)
        assert str(site.home / "ledger.db") in line
        assert "not a database" in line
