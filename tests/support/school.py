"""A school for the pages of people: Ada with memories of every kind, and a class that has practised fractions."""

from collections.abc import Awaitable, Callable, Mapping
from datetime import timedelta

from graphmem.app import Graphmem
from graphmem.flows.observation import observe
from graphmem.flows.world import WorldDraft, import_world
from graphmem.jobs.runner import run_jobs
from graphmem.model import Concept, Observation, PracticeOutcome, Practised, SourceKind
from tests.conftest import Pupil, say

CONCEPTS = {
    "half": ("halves", "fractions"),
    "compare": ("comparing fractions", "fractions"),
    "add": ("adding fractions", "fractions"),
    "decimal": ("decimals", "number"),
    "angle": ("angles", "geometry"),
    "area": ("area", "geometry"),
}
"""Names and domains of the concepts, by id."""
CLASS: Mapping[str, Mapping[str, str]] = {
    "ada": {"half": "GG", "compare": "HG", "add": "AA", "decimal": "GGG", "angle": "G"},
    "ben": {"half": "GGG", "compare": "GG", "add": "HG", "decimal": "GG", "area": "G"},
    "cleo": {"half": "AA", "compare": "AH", "add": "A", "angle": "GG"},
    "dario": {"half": "EEE", "compare": "EEE", "add": "EE", "decimal": "EEE", "angle": "EE", "area": "GG"},
    "elif": {"half": "G", "decimal": "HA", "angle": "G", "area": "AA"},
    "finn": {"half": "GG", "compare": "A", "add": "HA", "decimal": "G"},
}
"""How practice went, oldest first, by student and concept: the first letters of the outcomes."""
OUTCOMES = {outcome.value[0].upper(): outcome for outcome in PracticeOutcome}
PRACTICE_DAYS = 12
"""Days between two lessons with the same concept."""
LAST_DAYS = {"angle": 18, "half": 5}
"""Days since the last lesson with a concept; of others one."""
TOLD = (
    "I live in Berlin with my sister Lena.",
    "My dog Bello is five years old.",
    "I love climbing and I play chess with Mia.",
    "I am allergic to peanuts.",
    "I am scared of the maths test on Friday.",
    "I promise I will show Mia my pizza drawing.",
    "My best friend Mia plays the violin.",
    "I want to be an astronaut.",
    "I live in Munich.",
)
"""What Ada says; the last does not fit the first."""
DANGER = "I want to kill myself."


async def open_school(gm: Graphmem, institution: str, enrol: Callable[[str], Awaitable[Pupil]]) -> dict[str, Pupil]:
    """Enrol the class, let everybody practise and Ada and Cleo talk; the students by id, with their sessions."""
    concepts = [Concept(id, name, domain=domain) for id, (name, domain) in CONCEPTS.items()]
    await import_world(gm, institution, WorldDraft([(each.id, each) for each in concepts], []))
    pupils = {name: await enrol(name) for name in CLASS}
    for name, pupil in pupils.items():
        await observe(gm, pupil.who, lessons(gm, name))
    for i, text in enumerate(TOLD):
        await say(gm, pupils["ada"], text, at=gm.clock() - timedelta(weeks=len(TOLD) - i))
        await run_jobs(gm, pupils["ada"].session)
    for weeks, text in ((5, "I love my new school."), (3, "Everybody hates me and I am sad."), (1, DANGER)):
        await say(gm, pupils["cleo"], text, at=gm.clock() - timedelta(weeks=weeks))
    for pupil in pupils.values():
        await run_jobs(gm, pupil.session)
    return pupils


def lessons(gm: Graphmem, student: str) -> list[Observation]:
    """The lessons of a student, the last of each concept some days ago."""
    return [
        Observation(
            SourceKind.LESSON,
            f"{concept} {i}",
            f"We practised {CONCEPTS[concept][0]}.",
            gm.clock() - timedelta(days=LAST_DAYS.get(concept, 1) + PRACTICE_DAYS * (len(outcomes) - 1 - i)),
            practised=(Practised(concept, OUTCOMES[outcome]),),
        )
        for concept, outcomes in CLASS[student].items()
        for i, outcome in enumerate(outcomes)
    ]
