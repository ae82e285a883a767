"""The bench that a test names."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.contract.bench import Bench
from tests.contract.benches import BENCHES


@pytest.fixture
async def bench(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Bench]:
    """A channel with a platform to itself."""
    home = tmp_path / "bench"
    home.mkdir()
    async with BENCHES[request.param](home) as bench:
        yield bench
