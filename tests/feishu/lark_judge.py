"""The platform's own SDK, in a process of its own, as an independent judge of the wire format.

``python -m tests.feishu.lark_judge DOMAIN APP_ID APP_SECRET`` answers lines of JSON on standard input:
``{"frames": [hex, …]}`` with what each frame holds and its bytes anew; ``{"listen": true}`` by listening
with the real client, and then telling each message and card it gets.
"""

import json
import sys
import threading
from typing import Any

import lark_oapi
from lark_oapi.api.im.v1 import P2ImMessageReceiveV1
from lark_oapi.event.callback.model.p2_card_action_trigger import (
    P2CardActionTrigger,
    P2CardActionTriggerResponse,
)
from lark_oapi.ws.pb.pbbp2_pb2 import Frame


def tell(**what: Any) -> None:
    """One line of JSON."""
    print(json.dumps(what), flush=True)


def read_frame(data: bytes) -> dict[str, Any]:
    """What a frame holds, by the SDK's own codec."""
    frame = Frame()
    frame.ParseFromString(data)
    return {
        "numbers": [frame.SeqID, frame.LogID, frame.service, frame.method],
        "headers": [[header.key, header.value] for header in frame.headers],
        "encoding": frame.payload_encoding if frame.HasField("payload_encoding") else None,
        "type": frame.payload_type if frame.HasField("payload_type") else None,
        "payload": frame.payload.hex() if frame.HasField("payload") else None,
        "log": frame.LogIDNew if frame.HasField("LogIDNew") else None,
        "again": frame.SerializeToString().hex(),
    }


def on_message(event: P2ImMessageReceiveV1) -> None:
    """Tell what the SDK understands of a message."""
    assert event.event is not None
    message, sender = event.event.message, event.event.sender
    tell(
        message=message.message_id,
        chat=message.chat_id,
        chat_type=message.chat_type,
        kind=message.message_type,
        content=message.content,
        thread=message.thread_id,
        root=message.root_id,
        parent=message.parent_id,
        sender=sender.sender_id.open_id,
        sender_type=sender.sender_type,
        mentions=[[one.key, one.id.open_id, one.name] for one in message.mentions or []],
    )


def on_card(event: P2CardActionTrigger) -> P2CardActionTriggerResponse:
    """Tell of a card, and answer with a toast."""
    assert event.event is not None
    tell(card=event.event.context.open_message_id, value=event.event.action.value)
    return P2CardActionTriggerResponse({"toast": {"type": "info", "content": "done"}})


def listen(domain: str, app_id: str, app_secret: str) -> None:
    """Listen with the real client."""
    handler = (
        lark_oapi.EventDispatcherHandler.builder("", "")
        .register_p2_im_message_receive_v1(on_message)
        .register_p2_card_action_trigger(on_card)
        .build()
    )
    lark_oapi.ws.Client(app_id, app_secret, event_handler=handler, domain=domain).start()


def main() -> None:
    """Answer until standard input ends."""
    tell(ready=True)
    for line in sys.stdin:
        request = json.loads(line)
        if "frames" in request:
            tell(frames=[read_frame(bytes.fromhex(one)) for one in request["frames"]])
        else:
            threading.Thread(target=listen, args=sys.argv[1:4], daemon=True).start()


if __name__ == "__main__":
    main()
