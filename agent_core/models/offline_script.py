"""What the stand-in model says: fixed rules on the messages. Pure."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage

from agent_core.models.offline_compare import comparison, task_about, things_to_compare
from agent_core.models.offline_digest import Digest, parse_feed, short_list, to_markdown
from agent_core.models.offline_schedule import schedule_arguments
from agent_core.paths import OUTPUTS, UPLOADS
from agent_core.summary import SUMMARY_PROMPT
from agent_core.text import one_line

STAND_IN = (
    "I am a stand-in without a language model behind me. To connect a real one, set OPENAI_API_KEY "
    "(and OPENAI_BASE_URL or OPENAI_MODEL, if you like), or fill in `models:` in config.yaml, and "
    "start again."
)
ABILITIES = (
    "Until then I can do five things: write a file (“write a file notes.txt with …”), read one (“read the "
    "file notes.txt”), make a digest of feeds (“digest https://…”), have helpers work side by side "
    "(“compare tea and coffee with two helpers”), and put any of it on a schedule (“every weekday at 8:00 "
    "…”)."
)

# What the system adds; see tags.py.
_ADDED = re.compile(r"<(context|system-reminder)>.*?</\1>", re.DOTALL)
_FILE = r"[`'\"]?(?P<name>[\w][\w.\-]*\.\w{1,8})[`'\"]?"
_WRITE = re.compile(
    rf"\b(?:write|create|save|make)\b.{{0,40}}?\b(?:file|note)\b(?:\s+(?:called|named))?\s+{_FILE}"
    r"\s*(?:(?:with|containing|saying|that says)\b(?:\s+the\s+text\b)?\s*:?|:)\s*(?P<text>.+)",
    re.IGNORECASE | re.DOTALL,
)
_NOTE = re.compile(
    r"\b(?:write|create|save|make|take)\b(?:\s+(?:me|down))?\s+(?:a|the)\s+note\b"
    r"\s*(?:(?:with|containing|saying|that says|that)\b\s*:?|:)\s*(?P<text>.+)",
    re.IGNORECASE | re.DOTALL,
)
_READ = re.compile(
    rf"\b(?:read|show|open|summari[sz]e)\b.{{0,40}}?\b(?:file|note)\b\s+{_FILE}", re.IGNORECASE
)
_UPLOADED = re.compile(rf"{re.escape(UPLOADS)}/\S+")
_URL = re.compile(r"(?:https?://|file:)[^\s<>\"'`)\]]+")
_QUOTED_LINES = 10
_ECHO_LENGTH = 300
# In a conversation to be summed up; see summary.py.
_PERSON = "Person: "
_SUMMED_UP_LINES = 20


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call the stand-in wants to make."""

    id: str
    name: str
    arguments: Mapping[str, object]

    def arguments_json(self) -> str:
        """Give the arguments as JSON text, as models send them."""
        return json.dumps(dict(self.arguments), ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class Reply:
    """What the stand-in answers: text, or tool calls."""

    text: str = ""
    calls: tuple[Call, ...] = field(default=())


@dataclass(frozen=True, slots=True)
class _Turn:
    """What was asked last, and what has been done about it so far."""

    number: int
    asked: str
    uploads: tuple[str, ...]
    first: bool
    calls: tuple[Call, ...]
    results: Mapping[str, ToolMessage]

    def done(self, tool: str) -> list[tuple[Call, ToolMessage]]:
        """Give the calls of one tool that have a result."""
        return [(c, self.results[c.id]) for c in self.calls if c.name == tool and c.id in self.results]

    def call(self, tool: str, index: int = 0, **arguments: object) -> Call:
        """Make a call whose id is the same every time the same turn comes to it."""
        return Call(f"call_{self.number}_{tool}_{index}", tool, arguments)


def reply(messages: Sequence[BaseMessage], tools: frozenset[str]) -> Reply:
    """Decide what to answer.

    Args:
        messages: The conversation so far.
        tools: Names of the tools that may be called.
    """
    if messages and messages[0].text == SUMMARY_PROMPT:
        return Reply(_summed_up(messages[-1].text))
    turn = _read_turn(messages)
    answer = _act(turn, tools)
    if turn.first and not answer.calls:
        return Reply(f"{answer.text}\n\n{STAND_IN} {ABILITIES}")
    return answer


def _summed_up(conversation: str) -> str:
    """Give what was asked last, one line each."""
    asked = [line for line in conversation.splitlines() if line.startswith((_PERSON, "- "))]
    lines = [f"- {one_line(line.removeprefix('- ').removeprefix(_PERSON), 100)}" for line in asked]
    return "\n".join(["What was asked lately:", *lines[-_SUMMED_UP_LINES:]])


def _is_reminder(text: str) -> bool:
    return (
        text.startswith("<system-reminder>") and not _ADDED.sub("", text).strip() and "<context>" not in text
    )


def _read_turn(messages: Sequence[BaseMessage]) -> _Turn:
    # A message that is all the system's is no new turn; but one of files alone is.
    messages = [m for m in messages if not (isinstance(m, HumanMessage) and _is_reminder(m.text))]
    start = max((i for i, m in enumerate(messages) if isinstance(m, HumanMessage)), default=None)
    if start is None:
        return _Turn(0, "", (), True, (), {})
    before, after = messages[:start], messages[start + 1 :]
    full = messages[start].text
    return _Turn(
        number=sum(isinstance(m, HumanMessage) for m in before),
        asked=_ADDED.sub("", full).strip(),
        uploads=tuple(_UPLOADED.findall(full)),
        first=not any(isinstance(m, AIMessage) for m in before),
        calls=tuple(
            Call(call["id"] or "", call["name"], call["args"])
            for message in after
            if isinstance(message, AIMessage)
            for call in message.tool_calls
        ),
        results={m.tool_call_id: m for m in after if isinstance(m, ToolMessage)},
    )


def _act(turn: _Turn, tools: frozenset[str]) -> Reply:
    if (wanted := schedule_arguments(turn.asked)) is not None:
        return _schedule(turn, wanted, tools)
    urls = tuple(dict.fromkeys(url.rstrip(".,;:!?") for url in _URL.findall(turn.asked)))
    if re.search(r"\bdigest\b", turn.asked, re.IGNORECASE) and urls:
        return _digest(turn, urls, tools)
    if things := things_to_compare(turn.asked):
        return _compare(turn, things, tools)
    if found := _WRITE.search(turn.asked):
        return _write(turn, found["name"], found["text"].strip(), tools)
    if found := _NOTE.search(turn.asked):
        return _write(turn, "note.txt", found["text"].strip(), tools)
    if found := _READ.search(turn.asked):
        paths = [path for path in turn.uploads if path.endswith(f"/{found['name']}")]
        return _read(turn, paths[0] if paths else f"{OUTPUTS}/{found['name']}", tools)
    if turn.uploads:
        return _read(turn, turn.uploads[0], tools)
    return Reply(_echo(turn.asked))


def _echo(asked: str) -> str:
    if not asked:
        return "I got a message without text."
    return f"I read: “{one_line(asked, _ECHO_LENGTH)}”"


def _missing(needed: Sequence[str], tools: frozenset[str]) -> str | None:
    missing = [tool for tool in needed if tool not in tools]
    return f"I cannot do that here: the tool {missing[0]} is not available." if missing else None


def _failed(what: str, result: ToolMessage) -> Reply:
    return Reply(f"{what} did not work: {one_line(result.text, 300)}")


def _write(turn: _Turn, name: str, text: str, tools: frozenset[str], said: str | None = None) -> Reply:
    path = f"{OUTPUTS}/{name}"
    if not (written := turn.done("write_file")):
        if problem := _missing(("write_file", "present_files"), tools):
            return Reply(problem)
        return Reply(calls=(turn.call("write_file", path=path, content=text),))
    if written[-1][1].status == "error":
        if len(written) > 1 or (not turn.done("read_file") and "read_file" not in tools):
            return _failed(f"Writing {name}", written[-1][1])
        # A file that is there already must be read before it is replaced.
        if not turn.done("read_file"):
            return Reply(calls=(turn.call("read_file", path=path),))
        return Reply(calls=(turn.call("write_file", 1, path=path, content=text),))
    if not (presented := turn.done("present_files")):
        if problem := _missing(("present_files",), tools):
            return Reply(problem)
        return Reply(calls=(turn.call("present_files", paths=[path]),))
    if presented[-1][1].status == "error":
        return _failed(f"Sharing {name}", presented[-1][1])
    return Reply(said or f"I wrote {name}; here it is.")


def _compare(turn: _Turn, things: Sequence[str], tools: frozenset[str]) -> Reply:
    if done := turn.done("task"):
        return Reply(comparison(things, [result.text for _, result in done]))
    if problem := _missing(("task",), tools):
        return Reply(problem)
    tasks = enumerate(things)
    return Reply(calls=tuple(turn.call("task", i, **task_about(thing, i)) for i, thing in tasks))


def _schedule(turn: _Turn, wanted: Mapping[str, object], tools: frozenset[str]) -> Reply:
    if not (asked := turn.done("schedule_task")):
        if problem := _missing(("schedule_task",), tools):
            return Reply(problem)
        return Reply(calls=(replace(turn.call("schedule_task"), arguments=wanted),))
    if asked[-1][1].status == "error":
        return _failed("Scheduling that", asked[-1][1])
    return Reply("It is on the schedule once you have confirmed it.")


def _digest(turn: _Turn, urls: Sequence[str], tools: frozenset[str]) -> Reply:
    read = turn.done("read_feed")
    if not read:
        if problem := _missing(("read_feed", "write_file", "present_files"), tools):
            return Reply(problem)
        return Reply(calls=tuple(turn.call("read_feed", i, url=url) for i, url in enumerate(urls)))
    feeds = []
    problems = []
    for call, result in read:
        url = str(call.arguments.get("url", ""))
        feed = None if result.status == "error" else parse_feed(url, result.text)
        if feed is None:
            problems.append(f"{url}: {one_line(result.text, 200) or 'nothing came'}")
        else:
            feeds.append(feed)
    digest = Digest(tuple(feeds), tuple(problems))
    if not feeds:
        return Reply("I could not read any of the feeds:\n\n" + "\n".join(f"- {p}" for p in problems))
    return _write(turn, "digest.md", to_markdown(digest), tools, short_list(digest))


def _read(turn: _Turn, path: str, tools: frozenset[str]) -> Reply:
    name = path.rpartition("/")[2]
    if not (read := turn.done("read_file")):
        if problem := _missing(("read_file",), tools):
            return Reply(problem)
        return Reply(calls=(turn.call("read_file", path=path),))
    result = read[-1][1]
    if result.status == "error":
        return _failed(f"Reading {name}", result)
    lines = result.text.splitlines()
    quoted = "\n".join(lines[:_QUOTED_LINES])
    rest = f"\n\n… and {len(lines) - _QUOTED_LINES} more lines." if len(lines) > _QUOTED_LINES else ""
    return Reply(f"{name} begins like this:\n\n```\n{quoted.replace('```', '` ` `')}\n```{rest}")
