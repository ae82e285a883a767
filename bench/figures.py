"""What a measurement gives, and how it is shown."""

import json
import os
import platform
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Figure:
    """One number.

    Args:
        storage: ``sqlite`` or ``postgres``.
        name: What was measured.
        value: How much.
        unit: Of the value.
        note: What one must know to read it.
    """

    storage: str
    name: str
    value: float
    unit: str
    note: str = ""


def percentiles(storage: str, name: str, seconds: Sequence[float], note: str = "") -> list[Figure]:
    """The median, the 95th and the 99th percentile of durations, in milliseconds."""
    ordered = sorted(seconds)
    return [
        Figure(storage, f"{name}, p{rank}", _rank(ordered, rank) * 1000, "ms", note) for rank in (50, 95, 99)
    ]


def _rank(ordered: Sequence[float], rank: int) -> float:
    """The nearest-rank percentile of sorted values."""
    return ordered[max(0, -(-len(ordered) * rank // 100) - 1)]


def table(figures: Sequence[Figure]) -> str:
    """All figures as text, one row each, the storages side by side."""
    storages = list(dict.fromkeys(figure.storage for figure in figures))
    names = list(dict.fromkeys(figure.name for figure in figures))
    found = {(figure.name, figure.storage): figure for figure in figures}
    width = max(len(name) for name in names)
    lines = [" " * width + "".join(f"{storage:>16}" for storage in storages)]
    for name in names:
        cells = [_cell(found.get((name, storage))) for storage in storages]
        lines.append(f"{name:<{width}}" + "".join(f"{cell:>16}" for cell in cells))
    return "\n".join(lines)


def _cell(figure: Figure | None) -> str:
    return "" if figure is None else f"{figure.value:,.1f} {figure.unit}"


def write(path: Path, figures: Sequence[Figure]) -> None:
    """Write the figures and where they come from as JSON."""
    content = {
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": {
            "cores": os.cpu_count(),
            "load": round(os.getloadavg()[0], 2),
            "python": platform.python_version(),
            "system": f"{platform.system()} {platform.machine()}",
        },
        "figures": [asdict(figure) for figure in figures],
    }
    path.write_text(json.dumps(content, indent=2) + "\n")
