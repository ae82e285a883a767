"""How the stand-in model turns what ``read_feed`` returned into a digest. Pure."""

import re
from dataclasses import dataclass

from agent_core.text import one_line

_ITEM = re.compile(r"^\s{0,3}(?:#+\s*)?\d{1,3}[.)]\s+(?P<title>\S.*)$", re.MULTILINE)
_LINK = re.compile(r"https?://[^\s<>\"'`)\]]+")
_MARKDOWN_LINK = re.compile(r"\[(?P<text>[^\]]+)\]\((?P<url>https?://[^\s)]+)\)")
_DATE = re.compile(r"\b\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2})?(?:Z|\+00:00| UTC)?)?")
_HEADING = re.compile(r"^(?:#+\s*|(?:Feed|Title)\s*:\s*)(?P<title>\S.*)$", re.IGNORECASE)
_FIELD = re.compile(r"^(?:[-*]\s*)?(?:link|url|date|published|updated|summary)\s*:\s*", re.IGNORECASE)
_LISTED_PER_FEED = 5


@dataclass(frozen=True, slots=True)
class Item:
    """One entry of a feed."""

    title: str
    link: str
    date: str
    summary: str


@dataclass(frozen=True, slots=True)
class Feed:
    """One feed with its entries, in the order they came."""

    title: str
    items: tuple[Item, ...]


@dataclass(frozen=True, slots=True)
class Digest:
    """All that could be read, and what could not."""

    feeds: tuple[Feed, ...]
    problems: tuple[str, ...] = ()


def parse_feed(url: str, text: str) -> Feed | None:
    """Read the text of one ``read_feed`` result; None when it lists no entries."""
    starts = list(_ITEM.finditer(text))
    if not starts:
        return None
    items = []
    for index, start in enumerate(starts):
        end = starts[index + 1].start() if index + 1 < len(starts) else len(text)
        items.append(_item(start["title"], text[start.end() : end]))
    return Feed(_feed_title(url, text[: starts[0].start()]), tuple(items))


def to_markdown(digest: Digest) -> str:
    """Write the digest as a Markdown document."""
    parts = ["# Digest"]
    for feed in digest.feeds:
        parts.append(f"## {feed.title}")
        for item in feed.items:
            date = f" ({item.date[:10]})" if item.date else ""
            entry = f"- {_linked(item)}{date}"
            parts.append(f"{entry}\n  {item.summary}" if item.summary else entry)
    if digest.problems:
        parts.append("## Not read")
        parts += [f"- {problem}" for problem in digest.problems]
    return "\n\n".join(parts) + "\n"


def short_list(digest: Digest) -> str:
    """Say in a chat message what the digest holds: the first entries of each feed, with links."""
    parts = []
    for feed in digest.feeds:
        lines = [f"- {_linked(item)}" for item in feed.items[:_LISTED_PER_FEED]]
        if len(feed.items) > _LISTED_PER_FEED:
            lines.append(f"- … and {len(feed.items) - _LISTED_PER_FEED} more in the file")
        parts.append(f"**{feed.title}**\n" + "\n".join(lines))
    if digest.problems:
        parts.append("Not read:\n" + "\n".join(f"- {problem}" for problem in digest.problems))
    return "\n\n".join(parts)


def _item(first_line: str, rest: str) -> Item:
    whole = f"{first_line}\n{rest}"
    link = _LINK.search(whole)
    date = _DATE.search(rest) or _DATE.search(first_line)
    if marked := _MARKDOWN_LINK.search(first_line):
        title = marked["text"]
    else:
        title = _LINK.sub("", first_line).strip(" *`-–—:|<>")
    return Item(
        title=one_line(title, 200) or (link.group() if link else "(no title)"),
        link=link.group().rstrip(".,;") if link else "",
        date=date.group() if date else "",
        summary=_summary(rest),
    )


def _summary(rest: str) -> str:
    kept = []
    for line in rest.splitlines():
        stripped = _FIELD.sub("", line.strip())
        # Lines that hold only the link or the date say nothing new.
        if _DATE.sub("", _LINK.sub("", stripped)).strip(" -*<>`|()"):
            kept.append(stripped)
    return one_line(" ".join(kept), 300)


def _feed_title(url: str, head: str) -> str:
    lines = [line.strip() for line in head.splitlines() if line.strip()]
    for line in lines:
        if found := _HEADING.match(line):
            return one_line(found["title"].strip("*` "), 120)
    return one_line(url, 120)


def _linked(item: Item) -> str:
    title = item.title.replace("[", "(").replace("]", ")")
    return f"[{title}]({item.link})" if item.link else title
