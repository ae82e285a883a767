"""How writes to a thread's state are joined."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_core.state import (
    SandboxConflictError,
    add_tokens,
    merge_artifacts,
    merge_promoted,
    merge_reminders,
    merge_sandbox,
    merge_uploads,
    merge_viewed_images,
)

PATHS = st.lists(st.sampled_from(["a", "b", "c", "d"]))


@given(PATHS, PATHS)
def test_artifacts_keep_their_order_and_have_no_doubles(old: list[str], new: list[str]) -> None:
    before = merge_artifacts([], old)
    merged = merge_artifacts(before, new)
    assert merged[: len(before)] == before
    assert len(set(merged)) == len(merged)
    assert set(merged) == {*old, *new}


def test_a_sandbox_may_be_named_again_but_not_exchanged() -> None:
    assert merge_sandbox({}, {"sandbox_id": "s1"}) == {"sandbox_id": "s1"}
    assert merge_sandbox({"sandbox_id": "s1"}, {"sandbox_id": "s1"}) == {"sandbox_id": "s1"}
    assert merge_sandbox({"sandbox_id": "s1"}, {}) == {"sandbox_id": "s1"}
    with pytest.raises(SandboxConflictError, match=r"'s1'.*'s2'"):
        merge_sandbox({"sandbox_id": "s1"}, {"sandbox_id": "s2"})
    with pytest.raises(SandboxConflictError, match=r"'s1'.*'s3'"):
        merge_sandbox({"sandbox_id": "s1"}, {"sandbox_id": "s3", "replaces": "s2"})
    assert merge_sandbox({"sandbox_id": "s1"}, {"sandbox_id": "s2", "replaces": "s1"}) == {"sandbox_id": "s2"}


def test_viewed_images_are_added_and_an_empty_write_clears_them() -> None:
    a, b = {"mime_type": "image/png", "digest": "1"}, {"mime_type": "image/png", "digest": "2"}
    assert merge_viewed_images({"x": a}, {"y": b}) == {"x": a, "y": b}
    assert merge_viewed_images({"x": a}, {"x": b}) == {"x": b}
    assert merge_viewed_images({"x": a}, {}) == {}


def test_promoted_tools_belong_to_one_catalogue() -> None:
    old = {"catalog_hash": "h1", "names": ["a"]}
    assert merge_promoted(old, {"catalog_hash": "h1", "names": ["b", "a"]})["names"] == ["a", "b"]
    assert merge_promoted(old, {"catalog_hash": "h2", "names": ["b"]}) == {
        "catalog_hash": "h2",
        "names": ["b"],
    }


def test_an_upload_of_the_same_path_replaces_the_one_before() -> None:
    first = {"path": "p", "name": "a", "size": 1, "mime": None}
    other = {"path": "q", "name": "b", "size": 2, "mime": None}
    again = {**first, "size": 3}
    assert merge_uploads([first, other], [again]) == [again, other]


def test_reminders_add_up_and_are_dropped_by_message() -> None:
    one, two = {"text": "1", "place": "after"}, {"text": "2", "place": "inside"}
    old = merge_reminders({}, {"m": [one], "n": [one]})
    assert merge_reminders(old, {"m": [two]}) == {"m": [one, two], "n": [one]}
    assert merge_reminders(old, {"m": []}) == {"n": [one]}
    assert old == {"m": [one], "n": [one]}, "what was there is not changed in place"


def test_tokens_add_up() -> None:
    assert add_tokens({"input": 1, "calls": 1}, {"input": 2, "output": 3, "calls": 1}) == {
        "input": 3,
        "output": 3,
        "cached": 0,
        "calls": 2,
    }
