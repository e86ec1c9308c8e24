"""The world of an institution on the real database, and over the API."""

from collections.abc import Callable
from datetime import timedelta

import httpx
import pytest

from graphmem.app import Graphmem
from graphmem.bearer import make_token
from graphmem.errors import InvalidInput, Unavailable
from graphmem.flows.world import find_concept, import_world, list_concepts
from graphmem.model import Concept, Role, WorldEdge
from graphmem.store import world as world_store
from graphmem.store.world import list_unembedded, list_unfinished, load_world, save_concepts
from tests.support.client import Client, Refused
from tests.unit.test_world import FRACTION, HALF, PART, TENTH, draft

IMPORT = """mutation($concepts: [ConceptInput!]!, $edges: [WorldEdgeInput!]!) {
  importWorld(concepts: $concepts, edges: $edges) { concepts edges } }"""
FOUND = '{ concept(id: "half") { name aliases grade misconceptions } }'
SEARCHED = '{ concepts(search: "BRUCH") { total items { id } } }'


async def test_a_world_is_written_once_changed_and_reduced(gm: Graphmem, institution: str) -> None:
    for _ in range(2):
        await import_world(gm, institution, draft(FRACTION, HALF, TENTH, PART))
        world = await load_world(gm.graph, institution)
        assert world.concepts == {c.id: c for c in (FRACTION, HALF, TENTH)}
        assert world.edges == {"e1": PART}
    moved, renamed = WorldEdge("e1", "tenth", "fraction", "RELATED_TO"), Concept("half", "one half", domain="maths")
    await import_world(gm, institution, draft(moved, renamed))
    world = await load_world(gm.graph, institution)
    assert (world.concepts["half"], world.edges) == (renamed, {"e1": moved})
    await import_world(gm, institution, draft(FRACTION, HALF), replace=True)
    world = await load_world(gm.graph, institution)
    assert (world.concepts, world.edges) == ({"fraction": FRACTION, "half": HALF}, {})


async def test_grade_and_misconceptions_are_kept_and_removed_again(gm: Graphmem, institution: str) -> None:
    whole = Concept("half", "half", grade=3, misconceptions=("Any of two parts is a half.", "It is always smaller."))
    for concept in (whole, HALF):
        await import_world(gm, institution, draft(concept))
        assert await find_concept(gm, institution, "half") == concept
        assert (await load_world(gm.graph, institution)).concepts == {"half": concept}
        assert (await list_concepts(gm, institution, None, None, 1, None)).items == (concept,)


async def test_large_worlds_go_in_batches(gm: Graphmem, institution: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("graphmem.flows.world.WRITTEN_AT_ONCE", 2)
    monkeypatch.setattr("graphmem.store.world.READ_AT_ONCE", 3)
    concepts = [Concept(f"c{i}", f"name {i}") for i in range(7)]
    edges = [WorldEdge(f"e{i}", f"c{i}", f"c{i + 1}", "PREREQUISITE_OF") for i in range(6)]
    told: list[tuple[int, int]] = []
    await import_world(gm, institution, draft(*concepts, *edges), progress=lambda *at: told.append(at))
    world = await load_world(gm.graph, institution)
    assert (len(world.concepts), len(world.edges)) == (7, 6)
    # Each concept is written and embedded.
    assert (told[0], told[-1]) == ((2, 20), (20, 20))
    seen, after = [], None
    while True:
        page = await list_concepts(gm, institution, None, None, 3, after)
        seen += [each.id for each in page.items]
        assert page.total == 7
        if (after := page.next) is None:
            break
    assert seen == [each.id for each in concepts]


async def test_what_will_not_do_changes_nothing(gm: Graphmem, institution: str) -> None:
    with pytest.raises(InvalidInput, match="'nowhere'"):
        await import_world(gm, institution, draft(FRACTION, WorldEdge("e1", "fraction", "nowhere", "PART_OF")))
    assert not (await load_world(gm.graph, institution)).concepts


async def test_another_institution_has_a_world_of_its_own(gm: Graphmem, institution: str) -> None:
    other = f"other-{institution}"
    await import_world(gm, institution, draft(FRACTION, HALF, PART))
    assert await find_concept(gm, other, "half") is None
    assert (await list_concepts(gm, other, "half", None, 20, None)).total == 0
    await import_world(gm, other, draft(Concept("half", "Hälfte")), replace=True)
    assert await find_concept(gm, institution, "half") == HALF
    assert (await load_world(gm.graph, institution)).edges == {"e1": PART}


async def test_concepts_are_found_by_name_alias_description_and_domain(gm: Graphmem, institution: str) -> None:
    mean = Concept("mean", "mean", ("Mittelwert",), "Sum by number, as 50%", "statistics")
    await import_world(gm, institution, draft(mean, HALF))
    for search, domain, wanted in (
        ("MITTEL", None, [mean]), ("50%", None, [mean, HALF]), ("", None, [HALF, mean]),
        (None, "statistics", [mean]), ("half", "statistics", []), ("*", None, []),
    ):  # fmt: skip
        # "50%" means a half as well.
        found = await list_concepts(gm, institution, search, domain, 20, None)
        assert (list(found.items), found.total) == (wanted, len(wanted))


async def test_what_is_named_so_comes_first_then_what_is_meant(gm: Graphmem, institution: str) -> None:
    prime = Concept("prime", "prime number", ("Primzahl",), "A number that only 1 and itself divide.", "number")
    primer = Concept("primer", "primer", (), "A first coat of paint.", "art")
    lake = Concept("lake", "lake", (), "A large body of water surrounded by land.", "geography")
    await import_world(gm, institution, draft(prime, primer, lake))
    for search, first in (("prime number", "prime"), ("Primzahl 7", "prime"), ("numbre", "prime"), ("a pond", "lake")):
        found = await list_concepts(gm, institution, search, None, 20, None)
        assert found.items[:1] == ({"prime": prime, "lake": lake}[first],)
        assert found.total == len(found.items)
    page = await list_concepts(gm, institution, "prim", None, 1, None)
    assert ([each.id for each in page.items], page.total, page.next) == (["prime"], 2, "prime")
    page = await list_concepts(gm, institution, "prim", None, 1, page.next)
    assert ([each.id for each in page.items], page.next) == (["primer"], None)
    # What Lucene takes for operators is nothing but text.
    for search in ('" OR *:*', "name:(", "prime AND NOT", "\\", "[* TO *]"):
        await list_concepts(gm, institution, search, None, 20, None)
    assert (await list_concepts(gm, f"other-{institution}", "prime number", None, 20, None)).total == 0


async def test_a_changed_concept_is_embedded_anew_and_what_was_cut_short_is_completed(
    gm: Graphmem, institution: str
) -> None:
    await import_world(gm, institution, draft(FRACTION, HALF))
    await save_concepts(gm.graph, institution, "main", [Concept("half", "lake")], gm.clock())
    assert [each.id for each in await list_unembedded(gm.graph, institution, "", 9)] == ["half"]
    await import_world(gm, institution, draft(FRACTION))
    assert await list_unembedded(gm.graph, institution, "", 9) == []


async def test_an_import_that_was_cut_short_is_named_until_it_is_completed(
    gm: Graphmem, institution: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    later = gm.clock() + timedelta(hours=1)

    async def unfinished() -> set[str]:
        return {name for owner, name in await list_unfinished(gm.graph, later) if owner == institution}

    async def cut(*_: object) -> None:
        raise Unavailable

    with monkeypatch.context() as patched:
        patched.setattr(world_store, "save_world_edges", cut)
        with pytest.raises(Unavailable):
            await import_world(gm, institution, draft(FRACTION, HALF, PART, TENTH), name="second")
    assert await unfinished() == {"second"}
    await import_world(gm, institution, draft(Concept("dog", "dog")))
    assert await unfinished() == {"second"}
    await import_world(gm, institution, draft(FRACTION, HALF, PART, TENTH), name="second")
    assert await unfinished() == set()
    assert (await load_world(gm.graph, institution)).edges == {"e1": PART}
    with pytest.raises(InvalidInput):
        await import_world(gm, institution, draft(Concept("", "")))
    assert await unfinished() == set()


async def test_an_institution_has_several_worlds_each_replaced_by_itself(gm: Graphmem, institution: str) -> None:
    lake, sea = Concept("lake", "lake"), Concept("sea", "sea")
    await import_world(gm, institution, draft(FRACTION, HALF, PART))
    await import_world(gm, institution, draft(lake, sea), name="geography")
    await import_world(gm, institution, draft(lake), name="geography", replace=True)
    world = await load_world(gm.graph, institution)
    assert set(world.concepts) == {"fraction", "half", "lake"}
    assert (set(world.edges), world.names["lake"]) == ({"e1"}, "geography")
    with pytest.raises(InvalidInput, match="belongs to the world 'geography'"):
        await import_world(gm, institution, draft(lake))
    bridge = WorldEdge("e2", "half", "lake", "RELATED_TO")
    await import_world(gm, institution, draft(bridge), name="geography")
    with pytest.raises(InvalidInput, match="there is no concept 'half'"):
        await import_world(gm, institution, draft(FRACTION), replace=True)
    await import_world(gm, institution, draft(FRACTION, HALF), replace=True)
    assert set((await load_world(gm.graph, institution)).edges) == {"e2"}


async def test_an_admin_imports_and_an_app_looks_up(
    gm: Graphmem, institution: str, http: httpx.AsyncClient, bearer: Callable[[Role], str]
) -> None:
    given: dict[str, list[dict[str, object]]] = {
        "concepts": [
            {"id": "half", "name": "half", "aliases": ["Bruchteil"], "grade": 3, "misconceptions": ["It is small."]},
            {"id": "whole", "name": "whole"},
        ],
        "edges": [{"id": "e", "fromId": "half", "toId": "whole", "type": "PART_OF"}],
    }
    for role in (Role.APP, Role.TEACHER, Role.AUDITOR, Role.ANALYST):
        with pytest.raises(Refused) as refused:
            await Client(http, bearer(role)).call(IMPORT, **given)
        assert refused.value.code == "FORBIDDEN"
    assert await Client(http, bearer(Role.ADMIN)).call(IMPORT, **given) == {"concepts": 2, "edges": 1}
    app = Client(http, bearer(Role.APP))
    assert await app.call(FOUND) == {
        "name": "half",
        "aliases": ["Bruchteil"],
        "grade": 3,
        "misconceptions": ["It is small."],
    }
    assert await app.call(SEARCHED) == {"total": 1, "items": [{"id": "half"}]}
    elsewhere = Client(http, make_token(gm.secret, f"other-{institution}", Role.ADMIN, 60, gm.clock()))
    assert await elsewhere.call(FOUND) is None
    assert await elsewhere.call(SEARCHED) == {"total": 0, "items": []}
    with pytest.raises(Refused) as refused:
        await Client(http, bearer(Role.ADMIN)).call(IMPORT, **(given | {"edges": [given["edges"][0] | {"type": "X"}]}))
    assert refused.value.code == "INVALID_INPUT"
