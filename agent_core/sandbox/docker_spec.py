"""What a sandbox's container is: its name, its labels, and everything it may not do. Pure."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agent_core.paths import AREAS, SKILLS, VIRTUAL_ROOT, WORKSPACE

HOME_LABEL = "hart.home"
THREAD_LABEL = "hart.thread"
ROOT_LABEL = "hart.root"
SPEC_LABEL = "hart.spec"

QUIET_PROCESSES = 2
"""How many processes a container has while no command runs: the first one, and its pause."""

# The first process adopts and buries what commands leave behind. It ends by itself in the end, so that
# a container nobody comes back for goes away; one that is still wanted is made anew.
_FIRST_PROCESS = 'trap "exit 0" TERM; while ((SECONDS < 86400)); do sleep 300 & wait $!; done'

_READ_ONLY_AREAS = ("uploads",)
_MEGA = 1 << 20


@dataclass(frozen=True, slots=True)
class DockerSettings:
    """What is configured about containers.

    Args:
        image: Holds bash and the programs that commands use. It is not fetched.
        url: Where the engine listens; None for ``DOCKER_HOST`` or its usual socket.
        network: Name of one of the engine's networks; ``none`` for none.
        memory_mb: Of one container, files in memory included.
        cpus: Processor cores of one container.
        processes: At the same time in one container.
        tmp_mb: Size of ``/tmp``, which lies in memory.
        disk_mb: What the files of one thread may take.
        idle_seconds: After which a container that no command uses is removed.
        environment: Variables that commands see.
        home_on_host: Where the engine finds the home folder, when this process itself runs in a
            container and knows it under another path.
    """

    image: str = "hart-sandbox:latest"
    url: str | None = None
    network: str = "none"
    memory_mb: int = 1024
    cpus: float = 1.0
    processes: int = 256
    tmp_mb: int = 256
    disk_mb: int = 2048
    idle_seconds: float = 600.0
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)
    home_on_host: Path | None = None


@dataclass(frozen=True, slots=True)
class Place:
    """Whose container it is, and which folders it sees.

    Args:
        home_id: Tells the homes apart that share an engine.
        thread_id: The thread.
        root: The thread's files, as this process knows them.
        host_root: The same, as the engine knows them.
        host_skills: The skills, as the engine knows them; None for none.
    """

    home_id: str
    thread_id: str
    root: Path
    host_root: Path
    host_skills: Path | None


def container_name(home_id: str, thread_id: str) -> str:
    """The name of a thread's container: the same in every process that works on the home."""
    return f"hart-{home_id[:12]}-{hashlib.sha256(thread_id.encode()).hexdigest()[:20]}"


def container_config(settings: DockerSettings, place: Place, image_id: str, user: str) -> dict[str, Any]:
    """What the engine is asked for.

    Args:
        settings: What is configured.
        place: Whose it is.
        image_id: The image's content hash, so that a new image makes new containers.
        user: ``uid:gid`` of all its processes.
    """
    config: dict[str, Any] = {
        "Image": settings.image,
        "Entrypoint": [],
        "Cmd": ["bash", "-c", _FIRST_PROCESS],
        "User": user,
        "WorkingDir": WORKSPACE,
        "Hostname": "sandbox",
        "Env": [f"{name}={value}" for name, value in _environment(settings).items()],
        "Labels": {
            HOME_LABEL: place.home_id,
            THREAD_LABEL: place.thread_id,
            ROOT_LABEL: str(place.root),
        },
        "NetworkDisabled": settings.network == "none",
        "HostConfig": _host_config(settings, place),
    }
    config["Labels"][SPEC_LABEL] = _fingerprint(config, image_id)
    return config


def _environment(settings: DockerSettings) -> dict[str, str]:
    # /tmp, since the home folder of a user without a name would be the root, which is read-only.
    return {"HOME": "/tmp", "LANG": "C.UTF-8", **settings.environment}  # noqa: S108 - inside the container


def _host_config(settings: DockerSettings, place: Place) -> dict[str, Any]:
    memory = settings.memory_mb * _MEGA
    disk = settings.disk_mb * _MEGA
    return {
        "NetworkMode": settings.network,
        "Mounts": _mounts(place),
        "ReadonlyRootfs": True,
        "Tmpfs": {"/tmp": f"rw,exec,nosuid,nodev,mode=1777,size={settings.tmp_mb * _MEGA}"},  # noqa: S108
        "ShmSize": 64 * _MEGA,
        "CapDrop": ["ALL"],
        "SecurityOpt": ["no-new-privileges:true"],
        "Privileged": False,
        "IpcMode": "private",
        "Memory": memory,
        "MemorySwap": memory,
        "NanoCpus": int(settings.cpus * 1e9),
        "PidsLimit": settings.processes,
        "OomScoreAdj": 500,
        "Ulimits": [
            {"Name": "fsize", "Soft": disk, "Hard": disk},
            {"Name": "nofile", "Soft": 4096, "Hard": 4096},
            {"Name": "core", "Soft": 0, "Hard": 0},
        ],
        # What commands write is read as they write it; the first process writes nothing.
        "LogConfig": {"Type": "none"},
        "AutoRemove": True,
    }


def _mounts(place: Place) -> list[dict[str, Any]]:
    mounts = [
        _mount(place.host_root / area, f"{VIRTUAL_ROOT}/{area}", read_only=area in _READ_ONLY_AREAS)
        for area in AREAS
    ]
    if place.host_skills is not None:
        mounts.append(_mount(place.host_skills, SKILLS, read_only=True))
    return mounts


def _mount(source: Path, target: str, *, read_only: bool) -> dict[str, Any]:
    return {
        "Type": "bind",
        "Source": str(source),
        "Target": target,
        "ReadOnly": read_only,
        "BindOptions": {"Propagation": "rprivate"},
    }


def _fingerprint(config: Mapping[str, Any], image_id: str) -> str:
    text = json.dumps([config, image_id], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()
