"""Pictures of memories and overlays on the real database: who reads which words."""

from dataclasses import replace
from pathlib import Path

import pytest
from matplotlib.figure import Figure
from matplotlib.text import Text

from graphmem.app import Graphmem
from graphmem.commands.plot import FOOT, add_key, key_line, memory_boxes, memory_figure, overlay_figure, save_figure
from graphmem.errors import InvalidInput, Locked, NotFound
from graphmem.flows.memories import MemoryPicture, pictured_memories, pictured_overlay
from graphmem.flows.overlay import find_frontier, reveal
from graphmem.flows.world import find_world, import_world, read_world
from graphmem.jobs.runner import run_jobs
from graphmem.model import Who
from graphmem.validation import PAGE_SIZE
from tests.conftest import PASSWORD, Enrol, Pupil, say

OTTERS = "My sister Ottilie keeps nine otters in the garden."
HIDDEN = "My brother Leo is afraid of logarithms."


def words(figure: Figure) -> str:
    """All that is written in a picture."""
    return " ".join(" ".join(each.get_text().split()) for each in figure.findobj(Text))


async def test_words_are_drawn_with_the_password_only(gm: Graphmem, enrol: Enrol) -> None:
    ann, bob = await enrol("ann"), await enrol("bob")
    await say(gm, ann, OTTERS)
    await run_jobs(gm, ann.session)
    read = words(await memory_figure(gm, ann.who, PASSWORD, 40))
    assert "Ottilie keeps nine otters" in read
    assert "what is so" in read
    blind = words(await memory_figure(gm, ann.who, None, 40))
    assert "gravity" in blind
    assert "otter" not in blind.casefold()
    assert "ottilie" not in blind.casefold()
    assert "otter" not in words(await memory_figure(gm, bob.who, PASSWORD, 40)).casefold()
    with pytest.raises(Locked):
        await memory_figure(gm, ann.who, "not the password", 40)
    with pytest.raises(NotFound):
        await memory_figure(gm, Who(ann.who.institution, "nobody"), None, 40)
    with pytest.raises(InvalidInput, match="1 to 150"):
        await pictured_memories(gm, ann.who, 151)


def test_the_key_lies_within_the_page_however_narrow_that_is() -> None:
    for width in (7.0, 12.0):
        figure = Figure(figsize=(width, 5.0))
        add_key(figure, [key_line("red", f"a kind of edge, {i}") for i in range(11)])
        (key,) = figure.legends
        extent, page = key.get_window_extent(), figure.bbox
        assert page.x0 <= extent.x0 < extent.x1 <= page.x1
        assert page.y0 <= extent.y0 < extent.y1 <= FOOT * figure.dpi


async def test_a_thing_is_drawn_where_two_memories_speak_of_it(gm: Graphmem, ann: Pupil) -> None:
    def names(picture: MemoryPicture) -> set[str]:
        return {box.label for box in memory_boxes(picture) if box.round}

    await say(gm, ann, "My best friend Mia plays the violin.")
    await run_jobs(gm, ann.session)
    picture = await pictured_memories(gm, ann.who, 40, ann.session)
    assert names(picture) == {"Mia"}
    (id,) = [entity.id for entity in picture.entities.values() if entity.name == "violin"]
    violin = next(edge for edge in picture.edges if edge.to_id == id)
    again = replace(picture, edges=(*picture.edges, replace(violin, from_id="another memory")))
    assert names(again) == {"Mia", "violin"}


async def test_what_names_a_hidden_concept_has_no_words_in_a_picture(gm: Graphmem, ann: Pupil) -> None:
    await import_world(gm, ann.who.institution, read_world(find_world("mathematics")))
    await say(gm, ann, HIDDEN)
    await run_jobs(gm, ann.session)
    read = words(await memory_figure(gm, ann.who, PASSWORD, 40))
    assert "logarithm" not in read.casefold()
    assert "has not been met yet" in read
    await reveal(gm, ann.session, ["logarithm"])
    assert "afraid of logarithms" in words(await memory_figure(gm, ann.who, PASSWORD, 40))


async def test_an_overlay_names_what_is_known_and_the_frontier_only_where_asked(
    gm: Graphmem, ann: Pupil, tmp_path: Path
) -> None:
    with pytest.raises(NotFound, match="no world"):
        await overlay_figure(gm, ann.who)
    await import_world(gm, ann.who.institution, read_world(find_world("mathematics")))
    await reveal(gm, ann.session, [], through_grade=2)
    picture = await pictured_overlay(gm, ann.who)
    next_up = {each.id for each in await find_frontier(gm, ann.who, PAGE_SIZE)}
    assert picture.frontier == next_up
    figure = await overlay_figure(gm, ann.who)
    drawn = {each.get_text() for each in figure.findobj(Text)}
    known = {each.concept.name for each in picture.known.values()}
    assert known <= drawn
    hidden = {each.name for each in picture.world.concepts.values()} - known
    # Domains are names of concepts, too: "probability" is a row.
    domains = {each.domain for each in picture.world.concepts.values()}
    assert not drawn & hidden - domains
    named = {each.get_text() for each in (await overlay_figure(gm, ann.who, name_frontier=True)).findobj(Text)}
    assert {picture.world.concepts[id].name for id in sorted(next_up)[:5]} <= named
    for kind in ("svg", "png", "pdf"):
        save_figure(figure, tmp_path / f"one.{kind}")
        save_figure(figure, tmp_path / f"two.{kind}")
        assert (tmp_path / f"one.{kind}").read_bytes() == (tmp_path / f"two.{kind}").read_bytes()
    assert (tmp_path / "one.svg").stat().st_mode & 0o077 == 0
