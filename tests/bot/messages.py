"""Messages for tests."""

from dataclasses import replace

from channels.messages import Address, ChatKind, InboundMessage, Sender

DIRECT = InboundMessage(
    address=Address("telegram", "main", "100"),
    chat_kind=ChatKind.DIRECT,
    sender=Sender("7", "Ada"),
    message_id="1",
    dedupe_key="telegram:main:1",
    text="hello",
)

GROUP = replace(DIRECT, address=Address("telegram", "main", "-500", "9"), chat_kind=ChatKind.GROUP)
