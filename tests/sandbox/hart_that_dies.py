"""Begins a command in a sandbox and waits to be killed. Run as a program by test_docker_lifecycle.

Arguments: the image, the home, the beacon that the command lights.
"""

import asyncio
import sys
from pathlib import Path

from agent_core.paths import ThreadFiles
from agent_core.sandbox.docker import DockerSandboxProvider
from agent_core.sandbox.docker_spec import DockerSettings


async def main(image: str, home: Path) -> None:
    """Run a command without end."""
    provider = DockerSandboxProvider(DockerSettings(image=image), home)
    await provider.start()
    box = await provider.acquire("one", ThreadFiles(home / "threads/one"))
    await box.run("touch /tmp/mark", timeout=60, output_limit=100)
    await box.run("exec 3>beacon; echo on >&3; sleep 1000", timeout=2_000, output_limit=100)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], Path(sys.argv[2])))
