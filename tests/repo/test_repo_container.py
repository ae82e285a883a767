"""The container image, as far as it can be judged without an engine."""

import json
import re
import shlex
from fnmatch import fnmatch
from pathlib import Path

import pytest

from bot.config import load
from bot.config.problems import ConfigError
from tests.repo.tree import ROOT, files, read

INSTRUCTIONS = {
    *("ARG", "CMD", "COPY", "ENV", "EXPOSE", "FROM", "HEALTHCHECK", "RUN", "USER", "VOLUME", "WORKDIR"),
}


def instructions() -> list[tuple[str, str]]:
    """The Dockerfile's instructions with their arguments, continued lines joined."""
    lines = [line for line in read("Dockerfile").splitlines() if line.strip() and not line.startswith("#")]
    joined = "\n".join(lines).replace("\\\n", " ")
    return [(word, rest.strip()) for word, _, rest in (line.partition(" ") for line in joined.splitlines())]


def arguments(instruction: str) -> list[str]:
    return [rest for word, rest in instructions() if word == instruction]


def ignored(path: str) -> bool:
    """What .dockerignore says about a path: the last matching pattern wins."""
    verdict = False
    for line in read(".dockerignore").splitlines():
        if not line or line.startswith("#"):
            continue
        pattern = line.removeprefix("!")
        if any(fnmatch(str(part), pattern) for part in (Path(path), *Path(path).parents)):
            verdict = not line.startswith("!")
    return verdict


def test_only_known_instructions_are_used() -> None:
    assert {word for word, _ in instructions()} <= INSTRUCTIONS


def test_every_stage_starts_from_the_python_that_the_project_asks_for() -> None:
    assert [rest.split()[0] for rest in arguments("FROM")] == ["python:3.11-slim"] * 2


def test_what_is_copied_exists_and_is_sent_to_the_builder() -> None:
    for rest in arguments("COPY"):
        if rest.startswith("--from=build"):
            continue
        *sources, _target = rest.split()
        for source in sources:
            assert (ROOT / source).exists(), source
            assert not ignored(source.rstrip("/")), source


@pytest.mark.parametrize(
    "path", [".env", ".git/config", ".hart/ledger.db", ".venv/bin/python", "tests/hart.py"]
)
def test_what_the_image_must_not_hold_is_not_sent(path: str) -> None:
    assert ignored(path)


def test_all_rooms_are_copied() -> None:
    copied = {source.rstrip("/") for rest in arguments("COPY") for source in rest.split()[:-1]}
    rooms = {path.parts[0] for path in files() if path.name == "__init__.py" and len(path.parts) == 2}
    assert rooms - {"tests", "bench"} <= copied


def test_dependencies_are_installed_by_hash_before_the_code_is_copied() -> None:
    order = [rest for word, rest in instructions() if word in ("COPY", "RUN")]
    install = next(
        index for index, rest in enumerate(order) if "--require-hashes -r requirements.lock" in rest
    )
    assert all(not rest.startswith("bot/") for rest in order[:install])


def test_it_does_not_run_as_root_and_keeps_its_data_in_a_volume() -> None:
    words = [word for word, _ in instructions()]
    assert words.index("USER") < words.index("CMD")
    assert arguments("USER") == ["hart"]
    assert arguments("VOLUME") == ["/data"]
    environment = dict(pair.split("=", 1) for rest in arguments("ENV") for pair in shlex.split(rest))
    assert environment["HART_HOME"] == "/data"


def test_command_and_health_check_are_in_exec_form() -> None:
    assert json.loads(arguments("CMD")[0]) == ["hart", "run", "--no-console"]
    program, option, source = json.loads(arguments("HEALTHCHECK")[0].partition("CMD ")[2])
    assert (program, option) == ("python", "-c")
    compile(source, "HEALTHCHECK", "exec")
    assert f"'127.0.0.1', {arguments('EXPOSE')[0]}" in source


def test_the_port_is_that_of_the_configuration() -> None:
    assert str(load(ROOT, {}).config.server.port) == arguments("EXPOSE")[0]


def test_in_a_container_a_token_is_required() -> None:
    host = re.search(r"HART_HOST=(\S+)", " ".join(arguments("ENV")))
    assert host is not None
    environ = {"HART_HOST": host[1]}
    with pytest.raises(ConfigError, match="a token is needed"):
        load(ROOT, environ)
    server = load(ROOT, environ | {"HART_WEB_TOKEN": "correct-horse"}).config.server
    assert server.host == "0.0.0.0"
    assert server.token is not None
