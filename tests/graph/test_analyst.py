"""Queries for analysts on the real database: what surprises left, level by level, and no content of it."""

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from graphmem.app import Graphmem
from graphmem.flows.analysis import declared, list_queries
from graphmem.flows.surprise import answer_question, correct_surprise, list_questions
from graphmem.jobs.runner import run_jobs
from graphmem.model import Level, Verdict
from graphmem.store.memories import forgetting_curve
from tests.conftest import Enrol, Pupil
from tests.support.remembering import told
from tests.support.surprising import asking, responded, surprises

AT = datetime(2026, 1, 5, 9, tzinfo=UTC)
ROME = "I live in Rome with my family."
PARIS = "Guess what, we moved to Paris!"
TEAL = "My favourite colour is teal."
ORANGE = "Sorry, my favourite colour is actually orange."
CONFUSED = "I don't understand why the denominator of a fraction must stay the same."


PAGE = Path(__file__).parents[2] / "cypher" / "analyst" / "README.md"


def test_the_page_says_of_every_query_what_it_answers_and_needs() -> None:
    lines = dict(re.findall(r"^\| `(\w+)\.cypher` \| .{20,} \| (.+) \|$", PAGE.read_text("utf-8"), re.MULTILINE))
    needed = {name: re.sub(r" \(.*?\)", "", params).split(", ") for name, params in lines.items()}
    assert needed == {name: list(declared(query)) for name, query in list_queries().items()}


async def rows(gm: Graphmem, pupil: Pupil, name: str, **params: Any) -> list[dict[str, Any]]:
    return await gm.graph.run(f"analyst/{name}", pupil.who, **params)


@pytest.fixture
async def shaken(gm: Graphmem, ann: Pupil) -> Pupil:
    """Two calm turns and one surprise of each level, at hours of their own."""
    for hour, (text, level) in enumerate(
        [
            (ROME, None),
            (TEAL, None),
            ("My uncle studies volcanoes and took me to one in Sicily.", Level.BOUNDARY),
            (ORANGE, Level.COGNITIVE_DISSONANCE),
            (PARIS, Level.PARADIGM_SHIFT),
            (CONFUSED, Level.PARADIGM_SHIFT),
            ("My uncle Ferdinand builds tiny submarines out of matchboxes.", Level.NORMAL),
        ]
    ):
        await surprises(gm, ann, text, level, turn_id=f"t{hour}", at=AT + timedelta(hours=hour))
        about = "move" if text == PARIS else "denominator"
        await run_jobs(asking(gm, about) if level is Level.PARADIGM_SHIFT else gm, ann.session)
    return ann


async def test_actions_of_each_level_are_told_newest_first(gm: Graphmem, shaken: Pupil) -> None:
    found = await rows(gm, shaken, "surprise_actions", limit=10)
    assert [(row["level"], row["episode"], row["turn"]) for row in found] == [
        ("paradigm_shift", "episode-6", "t5"),
        ("paradigm_shift", "episode-5", "t4"),
        ("cognitive_dissonance", "episode-4", "t3"),
        ("boundary", "episode-3", "t2"),
        ("normal", "episode-7", "t6"),
    ]
    assert [row["signal"] for row in found] == [0.95, 0.95, 0.87, 0.7, 0.3]
    assert [row["at"].to_native() for row in found] == [AT + timedelta(hours=hour) for hour in (5, 4, 3, 2, 6)]
    assert {row["verdict"] for row in found} == {None}
    assert [row["flashbulb"] for row in found] == [True, True, False, False, False]
    confused, paris, orange, volcanoes, uncle = found
    assert sorted(confused["lit"]) == ["episode-6", "memory-6-1"]
    assert volcanoes["members"] == ["memory-3-1"]
    assert [bool(row["members"]) for row in (paris, orange, volcanoes)] == [True] * 3
    assert uncle["facts"] == []
    for row in (orange, volcanoes, uncle):
        nothing = ("lit", "linked", "questions", "reflections", "procedures")
        assert [row[column] for column in nothing] == [[]] * len(nothing)
    assert [row["closed"] for row in (confused, volcanoes, uncle)] == [[], [], []]
    (moved,), (mended,) = paris["closed"], orange["closed"]
    assert (moved["prior"], moved["edge"], moved["holds"]) == ("memory-1-1", "TEMPORAL_EVOLUTION", True)
    assert (mended["prior"], mended["edge"], mended["holds"]) == ("memory-2-1", "REFINES", True)
    # No earlier memory is near enough to be linked.
    assert confused["linked"] == []
    assert {question["state"] for question in confused["questions"]} == {"waiting"}
    assert [reflection["id"] for reflection in confused["reflections"]] == ["reflection-6"]
    assert confused["procedures"] == ["procedure-6"]


async def test_the_newest_of_each_level_alone(gm: Graphmem, shaken: Pupil) -> None:
    found = await rows(gm, shaken, "surprise_actions", limit=1)
    assert [row["episode"] for row in found] == ["episode-6", "episode-4", "episode-3", "episode-7"]


async def test_what_was_said_of_them_is_told(gm: Graphmem, shaken: Pupil) -> None:
    first = (await list_questions(gm, shaken.session))[0]
    await answer_question(gm, shaken.session, first.id, "Because of the cake.")
    await correct_surprise(gm, shaken.session, "episode-6", Verdict.WAS_NOT_IMPORTANT, "")
    await correct_surprise(gm, shaken.session, "episode-3", Verdict.WAS_IMPORTANT, "")
    found = {row["episode"]: row for row in await rows(gm, shaken, "surprise_actions", limit=10)}
    states = {question["id"]: question["state"] for row in found.values() for question in row["questions"]}
    assert states[first.id] == "answered"
    calm, dissonant = found["episode-6"], found["episode-3"]
    assert (calm["level"], calm["verdict"], calm["flashbulb"], calm["lit"]) == (
        "normal",
        "was_not_important",
        False,
        [],
    )
    assert (dissonant["level"], dissonant["verdict"]) == ("cognitive_dissonance", "was_important")
    levels = {row["level"]: row for row in await rows(gm, shaken, "surprise_levels")}
    assert levels["paradigm_shift"]["turns"] == 1
    assert levels["normal"]["not_important"] == levels["cognitive_dissonance"]["important"] == 1
    assert levels["normal"]["important"] == 0


async def test_levels_are_counted(gm: Graphmem, shaken: Pupil) -> None:
    # What is said again belongs to no other level for it.
    await surprises(gm, shaken, ROME, None, turn_id="again", at=AT + timedelta(hours=9))
    await run_jobs(gm, shaken.session)
    found = {row.pop("level"): row for row in await rows(gm, shaken, "surprise_levels")}
    assert {level: row["episodes"] for level, row in found.items()} == {
        "paradigm_shift": 2,
        "cognitive_dissonance": 1,
        "boundary": 1,
        "normal": 1,
    }
    assert sum(row["turns"] for row in found.values()) == 7
    assert found["paradigm_shift"]["turns"] == 2
    assert found["paradigm_shift"]["signal"] == pytest.approx(0.95)
    assert found["paradigm_shift"]["flashbulbs"] == 4


async def test_nothing_that_was_said_and_nobody_else_is_seen(gm: Graphmem, shaken: Pupil, enrol: Enrol) -> None:
    bob = await enrol("bob")
    values = {"limit": 10} | forgetting_curve(gm.clock())
    of_one = {name: query for name, query in list_queries().items() if "student_id" in query.params}
    wanted = {name: {key: values[key] for key in values if key in query.params} for name, query in of_one.items()}
    assert wanted
    for name, params in wanted.items():
        assert list_queries()[name].reads
        found = await rows(gm, shaken, name, **params)
        assert not [v for row in found for v in row.values() if isinstance(v, bytes)], name
        assert await rows(gm, bob, name, **params) == [], name
    await told(gm, bob, "I like oboes.")
    await responded(gm, bob, "My oboe was stolen in Zurich!", Level.BOUNDARY)
    for name, params in wanted.items():
        params |= {key: value for key, value in forgetting_curve(gm.clock()).items() if key in params}
        found = await rows(gm, bob, name, **params)
        assert len(found) >= 1, name
        assert all(row.get("level") != "paradigm_shift" for row in found), name
