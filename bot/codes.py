"""Pairing codes: how they are made, shown, read and kept. Pure but for the randomness."""

import hashlib
import hmac
import secrets
from dataclasses import dataclass

ALPHABET = "ABCDEFGHJKMNPQRSTUVWXYZ23456789"
"""Characters that nobody takes for one another: no 0 and O, no 1, I and L."""

LENGTH = 8
"""Characters of a code: 31 to the power of 8 codes, while at most three are good on an account."""

PLACE = "\N{WHITE MEDIUM SMALL SQUARE}" * 4 + "-" + "\N{WHITE MEDIUM SMALL SQUARE}" * 4
"""Stands for a code in a text that is stored."""

_SALT_BYTES = 16


@dataclass(frozen=True, slots=True)
class KeptCode:
    """What is stored of a code: enough to recognise it, and not to tell it."""

    salt: str
    digest: str


def new_code() -> str:
    """A random code as people see it, such as ``ABCD-EFGH``."""
    code = "".join(secrets.choice(ALPHABET) for _ in range(LENGTH))
    return f"{code[: LENGTH // 2]}-{code[LENGTH // 2 :]}"


def keep(code: str) -> KeptCode:
    """What to store of a code."""
    salt = secrets.token_hex(_SALT_BYTES)
    return KeptCode(salt, _digest(read(code) or "", salt))


def read(text: str) -> str | None:
    """The code that somebody typed, or None when it cannot be one. Dashes, blanks and case do not matter."""
    code = "".join(text.split()).replace("-", "").strip("`").upper()
    return code if len(code) == LENGTH and set(code) <= set(ALPHABET) else None


def matches(code: str, kept: KeptCode) -> bool:
    """Whether a code read by :func:`read` is a kept one; the time it takes does not tell how near it is."""
    return hmac.compare_digest(_digest(code, kept.salt), kept.digest)


def _digest(code: str, salt: str) -> str:
    # Slow on purpose, 4 MiB of memory: who reads the ledger shall not find a code while it is good.
    return hashlib.scrypt(code.encode(), salt=bytes.fromhex(salt), n=2**12, r=8, p=1, dklen=32).hex()
