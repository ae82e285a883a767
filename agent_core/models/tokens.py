"""How many tokens a text is, about. Pure, and with no vocabulary to download."""

import re

# Chinese, Japanese and Korean: a token is some 1.6 of their characters and 4 of others.
_WIDE = re.compile(
    r"[\u1100-\u11ff\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff]"
)
_WIDE_PER_TOKEN = 1.6
_OTHERS_PER_TOKEN = 4.0


def estimate_tokens(text: str) -> int:
    """Give the number of tokens, rounded up; 0 for no text."""
    wide = len(_WIDE.findall(text)) if not text.isascii() else 0
    exact = wide / _WIDE_PER_TOKEN + (len(text) - wide) / _OTHERS_PER_TOKEN
    return -int(-exact // 1)
