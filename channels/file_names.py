"""Names of files that people send or get."""

import re
import unicodedata

MAX_NAME_BYTES = 120


def safe_name(name: str) -> str:
    """A file name that is safe on any disk, still readable, and never empty or hidden."""
    name = unicodedata.normalize("NFC", name).replace("\\", "/").rsplit("/", 1)[-1]
    name = "".join("_" if unicodedata.category(char)[0] in "CZ" and char != " " else char for char in name)
    name = re.sub(r'[<>:"|?*]', "_", name).strip(" .") or "file"
    stem, dot, suffix = name.rpartition(".")
    if not dot or len(suffix) > 16:
        stem, dot, suffix = name, "", ""
    room = MAX_NAME_BYTES - len((dot + suffix).encode())
    return stem.encode()[:room].decode(errors="ignore") + dot + suffix
