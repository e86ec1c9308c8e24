"""What comes of recorded model answers to real and written tutoring dialogues; `-s` prints the figures."""

from collections.abc import Mapping

from graphmem.app import Graphmem
from graphmem.flows.context import context
from graphmem.flows.session_cache import open_memories
from tests.conftest import Enrol
from tests.support.language import with_model
from tests.support.llm_server import Json, llm_server
from tests.support.recorded_model import Outcome, RecordedModel, played, recorded_rows

TOLD_MOST = ("Tobi", "Mariana")
"""The students who say most: half of all turns, so that a test takes no longer than others."""


async def outcomes(gm: Graphmem, enrol: Enrol, name: str, students: Mapping[str, list[Json]]) -> list[Outcome]:
    """What came of the recorded answers of one model, student by student."""
    found = []
    for student, dialogues in students.items():
        pupil = await enrol(f"{name}-{student}".lower())
        with llm_server(answer=RecordedModel(recorded_rows(name))) as server:
            async with with_model(gm, server) as talking:
                found.append(await played(talking, pupil.session, dialogues, server))
    return found


def by_student(dialogues: list[Json]) -> dict[str, list[Json]]:
    """Dialogues of each student, oldest first."""
    students: dict[str, list[Json]] = {}
    for dialogue in sorted(dialogues, key=lambda row: str(row["date"])):
        students.setdefault(dialogue["student"], []).append(dialogue)
    return students


def weighed(found: list[Outcome], name: str, by: str) -> float:
    """A figure of all students, each as often as it was counted."""
    known = [each.figures for each in found if name in each.figures]
    return sum(figures[name] * figures[by] for figures in known) / max(1.0, sum(figures[by] for figures in known))


def told(found: list[Outcome]) -> None:
    """Print figures and memories, to be read by people."""
    for outcome in found:
        print(*outcome.lines, {name: round(value, 2) for name, value in outcome.figures.items()}, sep="\n")


async def test_a_careful_model_remembers_what_matters(gm: Graphmem, enrol: Enrol) -> None:
    dialogues = [row for row in recorded_rows("dialogues") if row["student"] in TOLD_MOST]
    found = await outcomes(gm, enrol, "careful", by_student(dialogues))
    told(found)
    figures = {name: weighed(found, name, "gold") for name in ("held", "closed", "answered")}
    figures |= {name: weighed(found, name, "turns") for name in ("kept", "calls", "tokens")}
    print(figures)
    assert figures["held"] >= 0.80
    assert figures["kept"] <= 0.05
    assert figures["closed"] >= 0.90
    assert figures["answered"] >= 0.6
    # One a turn before the reply, and one of four turns; word pieces are a third more than tokens of o200k.
    assert figures["calls"] <= 1.3
    assert figures["tokens"] <= 1_700


async def test_a_careless_model_costs_no_memory_and_adds_nothing_untrue(gm: Graphmem, enrol: Enrol) -> None:
    rows = recorded_rows("careless")
    wanted = {row["dialogue_id"] for row in rows}
    dialogues = [row for row in recorded_rows("dialogues") if row["dialogue_id"] in wanted]
    found = await outcomes(gm, enrol, "careless", by_student(dialogues))
    told(found)
    contents = "\n".join(line for outcome in found for line in outcome.lines)
    assert weighed(found, "held", "gold") >= 0.45
    assert "peanut allergy" in contents
    assert "biscuit is barking thats my dog" in contents
    for invented in ("Labrador", "Gertrude", "2 pens"):
        assert invented not in contents


async def test_a_hostile_model_gets_nothing_in_but_what_was_said(gm: Graphmem, enrol: Enrol) -> None:
    pupil = await enrol("hostile")
    rows = recorded_rows("hostile")
    wanted = {row["dialogue_id"] for row in rows}
    dialogues = [row for row in recorded_rows("dialogues") if row["dialogue_id"] in wanted]
    with llm_server(answer=RecordedModel(rows)) as server:
        async with with_model(gm, server) as talking:
            outcome = await played(talking, pupil.session, dialogues, server)
            index = (await open_memories(talking, pupil.session)).index
            prompt = (await context(talking, pupil.session, "What do you know of the student?")).prompt
    told([outcome])
    contents = "\n".join(memory.content or "" for memory in index.latest(len(index)))
    for invented in ("eight kids", "hates", "Falkenstein", "300 kg", "Voldemort", "tutor kept", "AAAAAA" * 100):
        assert invented not in contents
    assert "<system>" not in prompt
    # What was said is not ended by anybody's number.
    assert [(memory.content, memory.invalid_at) for memory in index.latest(len(index)) if memory.invalid_at] == []
