"""Judges a command before it runs: stop it, let it run with a warning, or let it run. Pure.

This is no wall: the sandbox is. It stops what no honest task needs, so that a model that was misled
notices, and it tells the operator that something was tried.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum

from agent_core.sandbox.shell_words import INTERPRETERS, SHELLS, Call, Reading, read_command

MAX_COMMAND_CHARS = 20_000


class Level(IntEnum):
    """What is done about a command."""

    PASS = 0
    WARN = 1
    BLOCK = 2


@dataclass(frozen=True, slots=True)
class Verdict:
    """What was found in a command.

    Args:
        level: What to do about it.
        reasons: For the model and the log; none holds a part of the command.
    """

    level: Level
    reasons: tuple[str, ...] = ()


_BIDI = re.compile(r"[\u202a-\u202e\u2066-\u2069]")
_INVISIBLE = re.compile(r"[\u200b\u2060\ufeff\u00ad\U000e0000-\U000e007f]")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
_FORK_BOMB = re.compile(
    r"(?<![\w:.])([\w:.]{1,64})\s{0,9}\(\)\s{0,9}\{[^}]{0,200}?(?<![\w:.])\1\s{0,9}\|\s{0,9}\1\s{0,9}&"
)

_SYSTEM = (
    r"(?:bin|boot|dev|etc|home|lib\w*|media|mnt(?:/user-data|/skills)?"
    r"|opt|proc|root|run|sbin|srv|sys|usr|var)"
)
_ROOTS = re.compile(rf"(?:/+\.?|/*(?:~|\$HOME|\$\{{HOME\}})|/+{_SYSTEM})(?:/+\*?|/*\*)?")
_DEVICE = re.compile(
    r"/dev/(?!null$|zero$|stdout$|stderr$|stdin$|tty$|u?random$|full$|shm\b|fd/|tcp/|udp/)\S+"
)
_SECRETS = re.compile(
    r"/etc/(?:shadow|gshadow|sudoers)\b"
    r"|(?:~|\$HOME|/root|/home/[^/]+)/\.(?:ssh/(?:id_|authorized_keys)|aws/credentials|netrc|docker/config\.json|kube/config)"
    r"|/proc/(?:\d+|\*|self)/(?:environ|mem)\b|/proc/1/root|/proc/(?:kcore|sysrq-trigger)"
)
_ENGINE = re.compile(r"/(?:var/)?run/(?:docker|containerd/containerd|podman/podman|crio/crio)\.sock")
_METADATA = re.compile(r"\b169\.254\.169\.254\b|\bmetadata\.google\.internal\b|\b100\.100\.100\.200\b")
_RAW_SOCKET = re.compile(r"/dev/(?:tcp|udp)/")

_DISK_TOOLS = frozenset({"wipefs", "fdisk", "sfdisk", "parted", "mkswap", "blkdiscard", "cryptsetup"})
# fmt: off
_MACHINE_TOOLS = frozenset({
    "mount", "umount", "nsenter", "unshare", "chroot", "pivot_root", "insmod", "modprobe", "rmmod", "kexec",
    "reboot", "shutdown", "halt", "poweroff", "iptables", "nft", "sysctl", "docker", "podman", "ctr",
    "runc", "setcap", "swapoff", "losetup",
})
# fmt: on
_MINERS = frozenset({"xmrig", "minerd", "cpuminer", "ethminer"})
_FETCHERS = frozenset({"curl", "wget", "fetch", "aria2c", "http", "lynx"})
_DECODERS = frozenset({"base64", "base32", "basenc", "xxd", "openssl", "uudecode", "gpg", "rev"})
_PRINTERS = frozenset({"echo", "printf"})
_PACKAGE_TOOLS = frozenset({"pip", "pip3", "npm", "apt", "apt-get", "yarn", "pnpm", "gem", "cargo", "uv"})
_PRELOADS = frozenset({"LD_PRELOAD", "LD_LIBRARY_PATH", "LD_AUDIT"})


def judge(command: str) -> Verdict:
    """Judge a command."""
    if not command.strip():
        return Verdict(Level.BLOCK, ("the command is empty",))
    if len(command) > MAX_COMMAND_CHARS:
        return Verdict(Level.BLOCK, ("the command is too long; write a script with write_file and run that",))
    blocked = _hostile_text(command)
    reading = read_command(command)
    for call in reading.calls:
        blocked += [reason for rule in _BLOCKING if (reason := rule(call))]
    if blocked:
        return Verdict(Level.BLOCK, tuple(dict.fromkeys(blocked)))
    warned = _doubtful_text(command, reading)
    for call in reading.calls:
        warned += [reason for rule in _WARNING if (reason := rule(call))]
    return Verdict(Level.WARN if warned else Level.PASS, tuple(dict.fromkeys(warned)))


def _hostile_text(command: str) -> list[str]:
    found = []
    if _BIDI.search(command):
        found.append("it holds characters that make it read otherwise than it runs")
    if _CONTROL.search(command.replace("\r\n", "\n")):
        found.append("it holds control characters")
    if _FORK_BOMB.search(command):
        found.append("it is a fork bomb")
    return found


def _doubtful_text(command: str, reading: Reading) -> list[str]:
    found = []
    if _INVISIBLE.search(command):
        found.append("it holds invisible characters")
    if reading.unreadable:
        found.append("its quoting could not be followed")
    if reading.assigned & _PRELOADS:
        found.append("it changes which libraries programs load")
    return found


def _flags(call: Call) -> str:
    return "".join(word[1:] for word in call.words if re.fullmatch(r"-[A-Za-z]+", word))


def _deletes_roots(call: Call) -> str:
    if call.program == "rm" and ("--no-preserve-root" in call.words or _recursive(call)):
        dangerous = any(_ROOTS.fullmatch(word) for word in call.words)
    elif call.program == "find" and "-delete" in call.words:
        dangerous = bool(call.words) and _ROOTS.fullmatch(call.words[0]) is not None
    elif call.program in ("chmod", "chown", "chgrp", "mv", "shred"):
        dangerous = any(_ROOTS.fullmatch(word) for word in call.words[:-1] if call.program == "mv") or (
            call.program != "mv" and _recursive(call) and any(_ROOTS.fullmatch(word) for word in call.words)
        )
    else:
        return ""
    return "it would delete or change whole system folders" if dangerous else ""


def _recursive(call: Call) -> bool:
    return bool({"r", "R"} & set(_flags(call))) or "--recursive" in call.words


def _writes_devices(call: Call) -> str:
    names = [*call.targets, *(word.removeprefix("of=") for word in call.words if word.startswith("of="))]
    if call.program in ("shred", "tee"):
        names += call.words
    touched = any(_DEVICE.fullmatch(name) for name in names)
    if touched or call.program in _DISK_TOOLS or call.program.startswith("mkfs"):
        return "it would write to disks or devices"
    return ""


def _changes_machine(call: Call) -> str:
    if call.program in _MACHINE_TOOLS and call.words != ("--version",):
        return "it would change the machine, not the files of this conversation"
    if any(re.match(r"/(?:etc|proc/sys|sys|boot|usr|lib\w*|s?bin)/", target) for target in call.targets):
        if all(re.match(r"/(?:etc|usr|proc|sys)/", target) and _reads(call) for target in call.targets):
            return ""
        return "it would write to system folders"
    return "it is a miner" if call.program in _MINERS else ""


def _reads(call: Call) -> bool:
    # A target alone does not say in which direction; programs that only read are known by name.
    return call.program in {
        "cat",
        "wc",
        "head",
        "tail",
        "sort",
        "grep",
        "while",
        "read",
        "awk",
        "sed",
        "diff",
    }


def _reads_secrets(call: Call) -> str:
    if call.program in _PRINTERS and not call.targets:
        return ""
    for word in (*call.words, *call.targets):
        if _SECRETS.search(word):
            return "it would read secrets of the system"
        if _ENGINE.search(word):
            return "it would talk to the container engine"
        if _METADATA.search(word):
            return "it would ask the cloud's metadata service"
    return ""


def _runs_fetched(call: Call) -> str:
    sources = [before.program for before in call.fed_by]
    if call.program in INTERPRETERS and any(source in _FETCHERS for source in sources):
        return "it would run a program straight from the network; download, read, then run it"
    return ""


def _runs_decoded(call: Call) -> str:
    if call.program not in SHELLS | {"source", ".", "eval"}:
        return ""
    hidden = any(
        before.program in _DECODERS or (before.program in _PRINTERS and any("\\x" in w for w in before.words))
        for before in call.fed_by
    )
    return "it would run a program that is hidden by an encoding" if hidden else ""


def _runs_substituted(call: Call) -> str:
    if call.program not in INTERPRETERS | {"eval"}:
        return ""
    text = " ".join(call.words)
    if not re.search(r"\$\(|`|<\(", text):
        return ""
    inside = {inner.program for inner in read_command(text).calls}
    if inside & _FETCHERS:
        return "it would run a program straight from the network; download, read, then run it"
    return "it would run a program that is hidden by an encoding" if inside & _DECODERS else ""


def _opens_shell(call: Call) -> str:
    words = " ".join((*call.words, *call.targets))
    if _RAW_SOCKET.search(words) and call.program not in _PRINTERS:
        return "it would open a connection to elsewhere by hand"
    exec_flag = any(re.fullmatch(r"-[a-z]*[ec]|--(?:sh-)?exec", word) for word in call.words)
    if call.program in ("nc", "ncat", "netcat") and exec_flag:
        return "it would give a shell to somebody elsewhere"
    if call.program == "socat" and re.search(r"(?i)\b(?:exec|system):", words):
        return "it would give a shell to somebody elsewhere"
    return ""


def _tries_for_root(call: Call) -> str:
    wanted = {"sudo", "doas"} & {*call.prefixes, call.program} or call.program == "su"
    return "there are no further rights to be had here" if wanted else ""


def _opens_to_all(call: Call) -> str:
    if call.program == "chmod" and any(
        re.fullmatch(r"0?[0-7]?777|a\+rwx|\+s|[24][0-7]{3}", w) for w in call.words
    ):
        return "it gives everybody all rights to files"
    return ""


def _installs(call: Call) -> str:
    if call.program in _PACKAGE_TOOLS and {"install", "add", "i"} & set(call.words[:3]):
        return "what is installed is gone with the sandbox, and there may be no network"
    return ""


def _lingers(call: Call) -> str:
    return "nothing runs on after the command" if {"nohup", "setsid"} & {*call.prefixes, call.program} else ""


def _kills_widely(call: Call) -> str:
    wide = call.program in ("killall", "pkill") or (call.program == "kill" and "-1" in call.words[1:])
    return "it ends processes that it may not have started" if wide else ""


_Rule = Callable[[Call], str]
_BLOCKING: tuple[_Rule, ...] = (
    _deletes_roots,
    _writes_devices,
    _changes_machine,
    _reads_secrets,
    _runs_fetched,
    _runs_decoded,
    _runs_substituted,
    _opens_shell,
)
_WARNING: tuple[_Rule, ...] = (_tries_for_root, _opens_to_all, _installs, _lingers, _kills_widely)
