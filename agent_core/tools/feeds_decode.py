"""From the bytes of a feed to XML text that is safe to parse. Pure.

The prolog of the document (declaration, comments, DOCTYPE) is taken away here by a linear scan. That ends
all entity tricks, and it matters for time too: feedparser reads the prolog with patterns that need minutes
for a few hostile kilobytes, during which no other thread runs.
"""

import codecs
import re

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
    (b"<\0?\0", "utf-16-le"),
    (b"\0<\0?", "utf-16-be"),
)
# Names as ``codecs.lookup`` gives them. Python knows more codecs, some of them slow or not for text.
_TEXT_CODECS = re.compile(
    r"utf-(8|16|32)(-[lb]e)?|ascii|iso8859-\d+|cp125\d|cp866|cp874|cp932|cp949|koi8-[ru]|mac-roman"
    r"|gb2312|gbk|gb18030|big5|big5hkscs|shift_jis|euc_jp|euc_kr|iso2022_jp"
)
# What pages really mean by these names.
_MEANT = {
    "ascii": "cp1252",
    "iso8859-1": "cp1252",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "shift_jis": "cp932",
}
_DECLARED = re.compile(rb"""encoding\s{0,9}=\s{0,9}["']([A-Za-z0-9._:-]{1,40})["']""")
_CHARSET = re.compile(r"""charset\s{0,9}=\s{0,9}["']?([A-Za-z0-9._:-]{1,40})""", re.IGNORECASE)
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]+")


def decode(data: bytes, content_type: str) -> str:
    """Decode by byte order mark, else by what the server says, else by the XML declaration, else as UTF-8.
    A wrong name never fails: it gives the nearest readable text, without characters XML forbids.

    Args:
        data: The document.
        content_type: The ``Content-Type`` header, empty if there is none.
    """
    for mark, marked in _MARKS:
        if data.startswith(mark):
            return _NOT_XML.sub("", data.decode(marked, "replace").lstrip("\ufeff"))
    told = _CHARSET.search(content_type[:200])
    declared = _DECLARED.search(data[:200])
    for name in (told and told[1], declared and declared[1].decode("ascii"), "utf-8"):
        codec = _codec(name) if name else None
        if codec:
            try:
                return _NOT_XML.sub("", data.decode(codec))
            except UnicodeDecodeError:
                continue
    return _NOT_XML.sub("", data.decode("cp1252", "replace"))


def without_prolog(text: str) -> str:
    """The document from its root element on; empty if it has none."""
    at = 0
    while True:
        at = text.find("<", at)
        if at < 0:
            return ""
        if text.startswith("<!--", at):
            end = text.find("-->", at)
            at = end + 3 if end >= 0 else len(text)
        elif text.startswith("<?", at):
            end = text.find("?>", at)
            at = end + 2 if end >= 0 else len(text)
        elif text.startswith("<!", at):
            at = _after_declaration(text, at)
        else:
            return text[at:]


def _after_declaration(text: str, at: int) -> int:
    """Where a ``<!DOCTYPE ...>`` ends, its internal subset included."""
    close, subset = text.find(">", at), text.find("[", at)
    if 0 <= subset < close:
        end = text.find("]", subset)
        close = text.find(">", end) if end >= 0 else -1
    return close + 1 if close >= 0 else len(text)


def _codec(name: str) -> str | None:
    try:
        found = codecs.lookup(name).name
    except (LookupError, ValueError):
        return None
    return _MEANT.get(found, found) if _TEXT_CODECS.fullmatch(found) else None
