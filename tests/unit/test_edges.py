"""The edges that are held beside the index, and what they lead to."""

from collections.abc import Iterable
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.model import HeldEdge, Reliability
from graphmem.search.edges import EdgeTable, Reach

FACTORS = {Reliability.RELIABLE: 1.0, Reliability.UNCERTAIN: 0.6, Reliability.CONTRADICTED: 0.4}
REACH = Reach(20, FACTORS | {Reliability.SUPERSEDED: 0.3})


def edge(other: str, weight: float = 0.8, type_: str = "ENABLES", *, outgoing: bool = True) -> HeldEdge:
    return HeldEdge(other, type_, outgoing, weight, Reliability.RELIABLE)


def reached(table: EdgeTable, *seeds: str, through: Iterable[str] = "abcdef") -> dict[str, float]:
    return {each.id: each.weight for each in table.reached(seeds, seeds, set(through).__contains__, REACH)}


def test_two_hops_lead_on_and_three_do_not() -> None:
    table = EdgeTable()
    table.replace({a: [edge(b)] for a, b in pairwise("abcd")})
    assert reached(table, "a") == pytest.approx({"b": 0.8, "c": 0.64})
    assert reached(table, "a", through="") == {"b": 0.8}
    found = table.reached(["a"], ["a"], lambda _: True, REACH)
    assert [each.types for each in found] == [("ENABLES",), ("ENABLES", "ENABLES")]
    assert {each.seed for each in found} == {"a"}
    assert table.reached(["a"], ["a", "b"], lambda _: True, Reach(1, REACH.factors)) == found[1:]


def test_the_best_way_counts_and_what_is_doubted_counts_less() -> None:
    table = EdgeTable()
    table.replace({"a": [edge("b", 0.6), edge("c", 0.9)], "c": [edge("b", 0.9)]})
    assert reached(table, "a") == pytest.approx({"b": 0.81, "c": 0.9})
    table.replace({"a": [edge("c", 0.9)._replace(reliability=Reliability.CONTRADICTED)]})
    assert reached(table, "a") == pytest.approx({"b": 0.36 * 0.9, "c": 0.36})


def test_the_edges_of_a_memory_are_replaced_at_both_ends() -> None:
    table = EdgeTable()
    table.replace({"a": [edge("b"), edge("c")], "b": [edge("a", outgoing=False)], "c": [edge("a", outgoing=False)]})
    assert (len(table), table.of("b")) == (2, [edge("a", outgoing=False)])
    table.replace({"b": []})
    assert (len(table), table.of("a"), table.of("b")) == (1, [edge("c")], [])
    table.replace({"a": [], "unknown": []})
    assert (len(table), table.nbytes, table.of("c")) == (0, 0, [])


EDGES = st.dictionaries(
    st.tuples(st.sampled_from("abcd"), st.sampled_from("abcd"), st.sampled_from(["CAUSES", "SUPPORTS"])).filter(
        lambda key: key[0] != key[1]
    ),
    st.floats(0.5, 1.0),
)


def of_graph(graph: dict[tuple[str, str, str], float], memory_id: str) -> list[HeldEdge]:
    outgoing = [edge(b, weight, kind) for (a, b, kind), weight in graph.items() if a == memory_id]
    return outgoing + [edge(a, w, kind, outgoing=False) for (a, b, kind), w in graph.items() if b == memory_id]


@given(EDGES, EDGES)
def test_one_end_of_each_changed_edge_brings_a_table_up_to_date(
    before: dict[tuple[str, str, str], float], after: dict[tuple[str, str, str], float]
) -> None:
    table, anew = EdgeTable(), EdgeTable()
    table.replace({each: of_graph(before, each) for each in "abcd"})
    anew.replace({each: of_graph(after, each) for each in "abcd"})
    changed = {key for key in before.keys() | after.keys() if before.get(key) != after.get(key)}
    table.replace({begins: of_graph(after, begins) for begins, _, _ in changed})
    assert len(table) == len(anew) == len(after)
    for each in "abcd":
        assert set(table.of(each)) == set(anew.of(each)) == set(of_graph(after, each))
