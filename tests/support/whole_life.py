"""A student with everything that is kept of one."""

from dataclasses import replace

from graphmem.app import Graphmem
from graphmem.flows.ledger import Draft, add_entry
from graphmem.flows.observation import observe
from graphmem.flows.overlay import reveal, set_attitude
from graphmem.flows.world import WorldDraft, import_world
from graphmem.jobs.runner import run_jobs
from graphmem.model import (
    Concept,
    LedgerCategory,
    Lesson,
    Level,
    Practised,
    SourceKind,
    StoredTurn,
    WorldEdge,
)
from graphmem.store import turns
from tests.conftest import Pupil, say
from tests.support.doubting import doubted
from tests.support.remembering import held, observations
from tests.support.surprising import asking, surprises

ASKED = "How many spoons did Julia buy in total?"
"""A reply to which an answer is expected."""


async def lives(gm: Graphmem, pupil: Pupil, secret: str) -> None:
    """The same life with another secret word."""
    # One concept of the world is met in a lesson, another is revealed; each has the secret's own name.
    concepts = [Concept(f"{secret}-{each}", f"{secret} {each}") for each in ("diving", "racing")]
    edge = WorldEdge(f"{secret}-edge", concepts[0].id, concepts[1].id, "RELATED_TO")
    world = WorldDraft([(each.id, each) for each in concepts], [("edge", edge)])
    await import_world(gm, pupil.who.institution, world)
    for i, text in enumerate(texts(secret)):
        # Other students were asked the same, so that an answer is expected, and its violation teaches a fact.
        await say(gm, pupil, text, f"t{i}", reply=ASKED)
    await observe(gm, pupil.who, observations([f"Ottilie admired the {secret} of Lisbon."], kind=SourceKind.TEACHER))
    own = observations([f"I polished my {secret} with wax for hours."])[0]
    practised = (Practised(concepts[0].id),)
    await observe(gm, pupil.who, [replace(own, ref=f"only-the-{secret}-has-this", practised=practised)])
    await reveal(gm, pupil.session, [concepts[1].id], [edge.id])
    await set_attitude(gm, pupil.session, concepts[1].id, 0.5, 0.25, f"Likes the {secret} in races.")
    # A surprise with all that follows it.
    await surprises(gm, pupil, f"I don't understand what a {secret} is good for.", Level.PARADIGM_SHIFT, turn_id="t4")
    await run_jobs(asking(gm, secret, Lesson(f"Finds the {secret} a puzzle.", (secret,))), pupil.session)
    await add_entry(gm, pupil.session, Draft(LedgerCategory.INSTRUCTION, f"Never mention the {secret}."))
    # A job, a message and a doubt that wait.
    await say(gm, pupil, f"And again my {secret} squeaks at midnight in Bergen.", "t8", reply=ASKED)
    waiting = StoredTurn("waiting", f"Where is my {secret}?", gm.clock(), None)
    await turns.receive(gm.graph, pupil.session, waiting, gm.clock())
    doubtful, other, *_ = await held(gm, pupil.session)
    await doubted(gm, pupil.session, doubtful, other, id="doubt-1")


def texts(secret: str) -> tuple[str, ...]:
    return (
        f"My sister Ottilie hides a {secret} in the cellar of our house in Lisbon.",
        f"I owe Ottilie five euros for the {secret}.",
        f"I love my {secret} that swims like a submarine.",
        f"I promise I will bring the {secret} to Ottilie tomorrow.",
    )
