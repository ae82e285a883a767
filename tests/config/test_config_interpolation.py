"""References to environment variables in text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_core.interpolation import InterpolationError, Unset, interpolate

NAMES = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,20}", fullmatch=True)


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("$NAME", "value"),
        ("${NAME}", "value"),
        ("${NAME:-other}", "value"),
        ("a $NAME, b", "a value, b"),
        ("x${NAME}y$NAME", "xvalueyvalue"),
        ("${MISSING:-other}", "other"),
        ("${EMPTY:-other}", "other"),
        ("${MISSING:-a b/c:d}", "a b/c:d"),
        ("x${MISSING:-}y", "xy"),
        ("$$NAME", "$NAME"),
        ("$$$NAME", "$value"),
        ("5$$", "5$"),
        ("", ""),
    ],
)
def test_references_are_replaced_also_inside_longer_text(text: str, result: str) -> None:
    assert interpolate(text, {"NAME": "value", "EMPTY": ""}) == result


def test_a_text_that_comes_out_empty_counts_as_not_set_and_names_its_variable() -> None:
    assert interpolate("${FIRST:-}${SECOND:-}", {}) == Unset("FIRST")


@pytest.mark.parametrize("text", ["$GONE", "${GONE}", "postgresql://u:$GONE@host/db"])
def test_an_unset_variable_is_refused_by_name(text: str) -> None:
    with pytest.raises(InterpolationError, match="environment variable GONE is not set"):
        interpolate(text, {})


def test_an_empty_variable_without_default_is_refused_since_a_token_may_not_vanish_silently() -> None:
    with pytest.raises(InterpolationError, match="environment variable GONE is empty"):
        interpolate("$GONE", {"GONE": ""})


@pytest.mark.parametrize("text", ["costs $5", "$", "a $ b", "${", "${}", "${NAME", "${NAME:other}", "${1}"])
def test_a_dollar_sign_that_starts_no_reference_is_refused(text: str) -> None:
    with pytest.raises(InterpolationError, match=r"write \$\$"):
        interpolate(text, {"NAME": "value"})


@given(st.text())
def test_text_without_dollar_signs_stays_and_doubled_signs_give_it_back(text: str) -> None:
    assert interpolate(text.replace("$", "$$"), {}) == text


@given(NAMES, st.text(min_size=1), st.text(st.characters(exclude_characters="$")))
def test_what_a_variable_holds_is_never_looked_at_again(name: str, value: str, around: str) -> None:
    assert interpolate(f"{around}${{{name}}}{around}", {name: value}) == f"{around}{value}{around}"


def refusal(text: str, value: str) -> str | None:
    try:
        interpolate(text, {"A": value, "B": value})
    except InterpolationError as error:
        return str(error)
    return None


@given(st.text(st.sampled_from("$${}:-AB_1 x")), st.text(min_size=1), st.text(min_size=1))
def test_whether_and_how_a_text_is_refused_does_not_depend_on_values(text: str, one: str, other: str) -> None:
    assert refusal(text, one) == refusal(text, other)
