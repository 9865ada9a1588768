"""What people write to name a policy, in its parts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nashdex.core.errors import ConfigurationError
from nashdex.core.ids import PolicyId
from nashdex.core.references import PolicyReference, matches, search_nodes, split_search

NAMES = st.text("abcdefghijklmnopqrstuvwxyzé0123456789 .-", min_size=1).map(str.strip).filter(bool)


@pytest.mark.parametrize(
    ("text", "store", "name", "temperature", "search"),
    [
        ("heuristic", "", "heuristic", 1.0, ""),
        ("search:matrix", "", "search:matrix", 1.0, ""),
        ("runs/demo#pb8894", "runs/demo", "pb8894", 1.0, ""),
        ("s3://bucket/a#newest@greedy", "s3://bucket/a", "newest", 0.0, ""),
        ("runs/demo#best response 1", "runs/demo", "best response 1", 1.0, ""),
        ("runs/demo#best response 1 @T0.5", "runs/demo", "best response 1", 0.5, ""),
        ("runs/a#b#nash", "runs/a#b", "nash", 1.0, ""),
        ("search:runs/demo#pb8894@T2", "runs/demo", "pb8894", 2.0, "search:"),
        ("search-300:s3://bucket/a#newest", "s3://bucket/a", "newest", 1.0, "search-300:"),
        ("search-100:zoo:gen1randombattle@greedy", "zoo:", "gen1randombattle", 0.0, "search:"),
    ],
)
def test_a_reference_has_these_parts(text: str, store: str, name: str, temperature: float, search: str) -> None:
    assert PolicyReference.parse(text) == PolicyReference(name, store, temperature, search)


@given(
    NAMES,
    st.sampled_from(["", "runs/demo", "s3://bucket/prefix"]),
    st.sampled_from([0.0, 0.25, 1.0]),
    st.sampled_from(["", "search:", "search-7:"]),
)
def test_what_is_printed_is_read_again(name: str, store: str, temperature: float, search: str) -> None:
    reference = PolicyReference(name, store, temperature, search) if store else PolicyReference(name)
    assert PolicyReference.parse(str(reference)) == reference


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("runs/demo#", "names no policy; expected RUN#ID"),
        ("#newest", "names no policy"),
        ("search:#newest", "names no policy"),
        ("runs/demo#@greedy", "names no policy"),
        ("search-0:runs/demo#newest", "with 1 to 10,000 nodes"),
        ("search-10001:runs/demo#newest", "with 1 to 10,000 nodes"),
        ("search-deep:zoo:gen1randombattle", "with 1 to 10,000 nodes"),
        ("search-:zoo:gen1randombattle", "with 1 to 10,000 nodes"),
        ("runs/demo#newest@Greedy", "write 'newest@greedy'"),
        ("runs/demo#newest@best", "expected '@greedy' or a temperature"),
        ("runs/demo#newest@", "expected '@greedy' or a temperature"),
    ],
)
def test_what_names_nothing_is_refused(text: str, says: str) -> None:
    with pytest.raises(ConfigurationError, match=says):
        PolicyReference.parse(text)


@pytest.mark.parametrize(("search", "nodes"), [("search:", 100), ("search-1:", 1), ("search-10000:", 10_000)])
def test_a_search_says_its_nodes(search: str, nodes: int) -> None:
    assert split_search(f"{search}p0123@greedy") == (search, "p0123@greedy")
    assert search_nodes(search) == nodes


def test_a_bare_run_is_one_of_the_store() -> None:
    assert str(PolicyReference.parse("demo#newest").within("s3://bucket/runs/")) == "s3://bucket/runs/demo#newest"
    assert str(PolicyReference.parse("runs/demo#newest").within("other")) == "runs/demo#newest"
    assert str(PolicyReference.parse("heuristic").within("other")) == "heuristic"


def test_an_id_comes_before_a_name_and_a_name_before_a_beginning() -> None:
    known = {
        PolicyId("pabc1"): ("best response 1",),
        PolicyId("pabc2"): ("pabc1", "Élite"),
        PolicyId("pab"): ("best response 1",),
    }
    assert matches("pabc1", known) == ["pabc1"]
    assert matches("élite", known) == ["pabc2"]
    assert matches("Best Response 1", known) == ["pabc1", "pab"]
    assert matches("pabc", known) == ["pabc1", "pabc2"]
    assert matches("pa", known) == [], "too short to mean one of them"
    assert matches("best", known) == [], "names are whole"
