"""A hundred messages on a platform, in direct chats and threads, and what must come of them."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, zip_longest

from tests.platforms import Place, Platform

PER_DIRECT_CHAT = 10
PER_THREAD = 15
MESSAGES = 100
"""On each platform: four direct chats, and two threads in each of two groups."""


@dataclass(slots=True)
class Traffic:
    """What people write on one platform, chat by chat and in turn.

    Args:
        platform: Where.
        asked: What was written so far, in order, by the place where the answer belongs.
    """

    platform: Platform
    asked: dict[Place, list[str]] = field(default_factory=lambda: defaultdict(list))

    def messages(self) -> Iterator[tuple[Place, str, str]]:
        """Place, person and text of each message; the chats take turns."""
        people = [self.platform.person(f"Person {number}") for number in range(4)]
        talks = [(self.platform.direct(person), person, PER_DIRECT_CHAT) for person in people]
        for group in (self.platform.group("Ops"), self.platform.group("Sales")):
            talks += [(self.platform.thread(group, person), person, PER_THREAD) for person in people[:2]]
        lines = [
            [(place, person, f"{self.platform.name} {talk} {number}") for number in range(count)]
            for talk, (place, person, count) in enumerate(talks)
        ]
        yield from (one for one in chain.from_iterable(zip_longest(*lines)) if one is not None)

    def say(self, place: Place, person: str, text: str) -> None:
        """Have one of them written."""
        self.asked[self.platform.say(place, person, text)].append(text)

    def answered(self) -> dict[Place, list[str]]:
        """What the bot has written so far, in order, by place."""
        found: dict[Place, list[str]] = defaultdict(list)
        for seen in self.platform.seen():
            found[seen.place].append(seen.text)
        return found

    def wanted(self) -> dict[Place, list[str]]:
        """What it must write, of a model that echoes."""
        return {place: [f"answer to: {text}" for text in texts] for place, texts in self.asked.items()}


def say_all(all_traffic: Sequence[Traffic]) -> int:
    """Have everything written, the platforms in turn: how many messages."""
    count = 0
    for round_ in zip(*(traffic.messages() for traffic in all_traffic), strict=True):
        for traffic, message in zip(all_traffic, round_, strict=True):
            traffic.say(*message)
            count += 1
    return count
