"""Hart in the test's own process, whole, between emulators."""

from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from ruamel.yaml import YAML

from bot.app import Hart, Parts, running
from bot.clock import Clock, system_clock
from bot.config import load
from bot.home import Home
from channels.console.client import LocalClient
from tests.emulators.feishu import FeishuEmulator
from tests.emulators.openai import OpenAIEmulator
from tests.emulators.slack import SlackEmulator
from tests.emulators.telegram import TelegramEmulator

EVERYTHING = Parts()
OPEN_TO_ALL = {"dm": "open", "group": "open", "acknowledge_open": True}
"""Access rules that let everybody in."""


@dataclass(slots=True)
class Site:
    """A configuration directory, a home and the storage that goes with them.

    Args:
        root: Where the files go.
        database_url: Postgres, or None for SQLite.
        config: What ``config.yaml`` says beyond storage and server.
        channels: What ``channels.yaml`` says under ``channels``.
        environ: The environment.
    """

    root: Path
    database_url: str | None = None
    config: dict[str, object] = field(default_factory=dict)
    channels: dict[str, object] = field(default_factory=dict)
    environ: dict[str, str] = field(default_factory=dict)

    @property
    def home(self) -> Path:
        """``HART_HOME``."""
        return self.root / "home"

    def write(self) -> None:
        """Write both files."""
        config: dict[str, object] = {"version": 1, "server": {"port": 0}, **self.config}
        if self.database_url:
            config["storage"] = {"url": self.database_url}
        _dump(self.root / "config.yaml", config)
        _dump(self.root / "channels.yaml", {"version": 1, "channels": self.channels})

    def use_openai(self, openai: OpenAIEmulator, *names: str) -> None:
        """Configure models on the emulator; the first is the default."""
        self.config["models"] = [
            {
                "name": name,
                "use": "langchain_openai:ChatOpenAI",
                "model": name,
                "api_key": openai.api_key,
                "base_url": openai.base_url,
            }
            for name in names or ("test-model",)
        ]

    def use_telegram(self, telegram: TelegramEmulator, **account: object) -> None:
        """Configure the emulated bot, open to everyone unless told otherwise."""
        self._use("telegram", {"token": telegram.token, "base_url": telegram.base_url}, account)

    def use_slack(self, slack: SlackEmulator, *, http: bool = False, **account: object) -> None:
        """Configure the emulated app, open to everyone unless told otherwise.

        Args:
            slack: The emulator; for HTTP events, its ``deliveries.target`` must name this Hart.
            http: Hear by HTTP events instead of Socket Mode.
            account: Further settings, and those to change.
        """
        hearing = (
            {"mode": "http", "signing_secret": slack.signing_secret}
            if http
            else {"app_token": slack.app_token}
        )
        self._use("slack", {"bot_token": slack.bot_token, "base_url": slack.base_url, **hearing}, account)

    def use_feishu(self, feishu: FeishuEmulator, **account: object) -> None:
        """Configure the emulated app, open to everyone unless told otherwise."""
        credentials = {
            "app_id": feishu.app_id,
            "app_secret": feishu.app_secret,
            "domain": feishu.base_url,
        }
        self._use("feishu", credentials, account)

    def _use(self, platform: str, credentials: Mapping[str, object], account: dict[str, object]) -> None:
        """Configure an account; one that has a ``name`` stands beside those configured before."""
        name = account.pop("name", None)
        before = self.channels.get(platform) if name else None
        accounts = before["accounts"] if isinstance(before, dict) else {}
        settings = {**credentials, "pacing": False, "access": OPEN_TO_ALL, **account}
        self.channels[platform] = {"accounts": {**accounts, name or "main": settings}}


@asynccontextmanager
async def hart_on(site: Site, now: Clock = system_clock, parts: Parts = EVERYTHING) -> AsyncIterator[Hart]:
    """Run Hart on a site while the block runs."""
    site.write()
    settings = load(site.root, site.environ)
    home = Home(site.home, settings.skills_directory)
    async with running(settings, home, site.environ, parts, now) as hart:
        yield hart


@asynccontextmanager
async def local_client(hart: Hart, channel: str = "console") -> AsyncIterator[LocalClient]:
    """A client of the running Hart's local server, for one of its local channels."""
    async with AsyncExitStack() as stack:
        yield await stack.enter_async_context(LocalClient(hart.url, hart.local_token, channel))


def _dump(path: Path, content: Mapping[str, object]) -> None:
    with path.open("w") as file:
        YAML().dump(dict(content), file)
