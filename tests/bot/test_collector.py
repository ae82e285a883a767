"""What was made at start is spared by the garbage collector while Hart runs, and only then."""

import gc

from tests.hart import Site, hart_on


async def test_what_was_made_at_start_is_spared_while_hart_runs(tmp_path) -> None:
    site = Site(tmp_path)
    before = gc.get_freeze_count()
    async with hart_on(site):
        spared, looked_through = gc.get_freeze_count(), len(gc.get_objects())
    assert before == 0
    assert spared > 10 * looked_through
    assert gc.get_freeze_count() == 0, "a test or an embedding program goes on after Hart"
