"""Rules that hold between parts of the configuration."""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from agent_core.skills.skill import SkillSet
from bot.config.channels_file import ChannelsConfig
from bot.config.config_file import Config
from bot.config.explain import suggestion
from bot.config.problems import KeyPath


@dataclass(frozen=True, slots=True)
class Fault:
    """A broken rule.

    Args:
        path: The key concerned, in ``config.yaml``.
        expected: What was to stand there, to follow "found ...".
    """

    path: KeyPath
    expected: str


def broken_rules(
    config: Config,
    channels: ChannelsConfig | None,
    *,
    models_given: bool,
    skills: SkillSet | None = None,
    unusable: Collection[str] = (),
) -> list[Fault]:
    """What is wrong between the parts.

    Args:
        config: As read. Parts in ``unusable`` hold their defaults.
        channels: As read; None when it could not be, and is then not checked against.
        models_given: True when the file lists models. A task's model is only checked then, since
            the models otherwise change with the environment.
        skills: Those there are; None if no key names any.
        unusable: Top-level keys whose content is faulty by itself; rules about them are left out.
    """
    faults: list[Fault] = []
    if "models" not in unusable:
        faults += _repeated(("models",), (model.name for model in config.models))
        faults += _agent_models(config)
    faults += _repeated(("subagents", "kinds"), (kind.name for kind in config.subagents.kinds))
    if skills is not None:
        faults += _subagent_skills(config, skills)
    if "tasks" not in unusable:
        faults += _repeated(("tasks",), (task.name for task in config.tasks))
        if models_given and "models" not in unusable:
            faults += _task_models(config)
        faults += _targets(config, channels)
    return faults


def _repeated(section: KeyPath, names: Iterable[str]) -> Iterator[Fault]:
    seen: set[str] = set()
    for index, name in enumerate(names):
        if name in seen:
            yield Fault((*section, index, "name"), " a second time, expected another name")
        seen.add(name)


def _agent_models(config: Config) -> Iterator[Fault]:
    names = [model.name for model in config.models]
    agent = config.agent
    wanted: list[tuple[KeyPath, str | None]] = [
        (("agent", "default_model"), agent.default_model),
        (("agent", "title_model"), agent.title_model),
        (("agent", "summarization", "model"), agent.summarization.model),
        *((("agent", "fallback_models", index), name) for index, name in enumerate(agent.fallback_models)),
    ]
    kinds = enumerate(config.subagents.kinds)
    wanted += [(("subagents", "kinds", index, "model"), kind.model) for index, kind in kinds]
    for path, name in wanted:
        if name is not None and name not in names:
            yield Fault(path, f", which is no model here; {suggestion(name, names)}")


def _subagent_skills(config: Config, skills: SkillSet) -> Iterator[Fault]:
    broken = {problem.name: problem for problem in skills.problems}
    for number, kind in enumerate(config.subagents.kinds):
        path: KeyPath = ("subagents", "kinds", number, "skills")
        if kind.skills and kind.tools is not None and "read_file" not in kind.tools:
            yield Fault(path, ", which needs read_file among the tools")
        for index, name in enumerate(kind.skills or ()):
            if name in skills.names:
                continue
            if name in broken:
                yield Fault((*path, index), f", which cannot be used: {broken[name]}")
            else:
                known = suggestion(name, skills.names) if skills.names else "there are none"
                yield Fault((*path, index), f", which is no skill here; {known}")


def _task_models(config: Config) -> Iterator[Fault]:
    names = [model.name for model in config.models]
    for index, task in enumerate(config.tasks):
        if task.model is not None and task.model not in names:
            yield Fault(
                ("tasks", index, "model"), f", which is no model here; {suggestion(task.model, names)}"
            )


def _targets(config: Config, channels: ChannelsConfig | None) -> Iterator[Fault]:
    for number, task in enumerate(config.tasks):
        seen: set[object] = set()
        for index, target in enumerate(task.targets):
            path: KeyPath = ("tasks", number, "targets", index)
            if target.address() in seen:
                yield Fault(path, " a second time, expected another target")
            seen.add(target.address())
            if channels is None:
                continue
            accounts = [state.account for state in channels.section(target.channel).states(target.channel)]
            if target.account not in accounts:
                expected = (
                    f", which is no account of {target.channel}; {suggestion(target.account, accounts)}"
                )
                yield Fault((*path, "account"), expected)
