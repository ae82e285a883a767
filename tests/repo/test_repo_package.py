"""What gets installed when Hart is installed."""

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

from tests.repo.tree import ROOMS, ROOT, files


def test_a_wheel_holds_every_file_of_the_rooms_and_nothing_else(tmp_path: Path) -> None:
    wanted = {path for path in files() if path.parts[0] in ROOMS}
    source = tmp_path / "source"
    for path in [*wanted, Path("pyproject.toml"), Path("README.md"), Path("LICENSE")]:
        (source / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / path, source / path)
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
    subprocess.run(
        [*command, "--no-index", "--wheel-dir", str(tmp_path), str(source)], check=True, timeout=150
    )
    (wheel,) = tmp_path.glob("hart-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        held = {Path(name) for name in archive.namelist()}
    assert {path for path in held if ".dist-info" not in path.parts[0]} == wanted
