"""How often each platform lets one account call it, as data for :class:`~channels.pacing.Pacer`."""

from channels.pacing import Limit, Per

_TELEGRAM_POSTS = frozenset({"sendMessage", "sendDocument", "editMessageText"})

TELEGRAM = (
    Limit(Per.ACCOUNT, 30, 1, kept=15),
    Limit(Per.CHAT, 3, 3, kept=2, methods=_TELEGRAM_POSTS),
    Limit(Per.CHAT, 20, 60, kept=15, methods=_TELEGRAM_POSTS, chats="-.*"),
)
"""Bots FAQ, "My bot is hitting limits": 30 a second, one a second in a chat with short bursts, 20 a
minute in a group. The id of a group is negative."""

TELEGRAM_TYPING = Limit(Per.CHAT, 1, 4, methods=frozenset({"sendChatAction"}))
"""Our own: Telegram shows "typing" for 5 s (Bot API ``sendChatAction``)."""

_SLACK_POSTS = frozenset({"chat.postMessage", "files.completeUploadExternal"})

SLACK = (
    Limit(Per.CHAT, 3, 3, methods=_SLACK_POSTS),
    Limit(
        Per.METHOD, 20, 60, methods=frozenset({"chat.startStream", "chat.stopStream", "conversations.open"})
    ),
    Limit(
        Per.METHOD,
        50,
        60,
        methods=frozenset({"chat.update", "chat.delete", "reactions.add", "reactions.remove"}),
    ),
    Limit(
        Per.METHOD,
        100,
        60,
        methods=frozenset(
            {"chat.appendStream", "files.getUploadURLExternal", "files.completeUploadExternal"}
        ),
    ),
)
"""Web API rate limits: posting about once a second in a channel with short bursts; tier 2 is 20 a minute,
tier 3 is 50, tier 4 is 100, per method and workspace."""

FEISHU = (
    Limit(Per.CHAT, 5, 1, kept=2),
    Limit(Per.ACCOUNT, 50, 1, kept=25),
    Limit(Per.ACCOUNT, 1000, 60, kept=500),
)
"""Open platform, "frequency control": 5 a second in a chat, shared by all bots in a group; 50 a second and
1000 a minute for an app."""
