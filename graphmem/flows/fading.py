"""What a student is about to forget (spec 11)."""

from dataclasses import dataclass, field
from datetime import timedelta

from graphmem.app import Graphmem
from graphmem.errors import InvalidInput
from graphmem.flows.familiarity_plan import FADED_RECALL, fades_at, recall_at
from graphmem.flows.overlay import progress_of
from graphmem.model import ConceptProgress, Who
from graphmem.model.fields import documented
from graphmem.store import overlays

DAYS_AHEAD = 365
"""Most days that are looked ahead."""


@dataclass(frozen=True)
class ProgressPage:
    """Progress with some concepts, how many there are, and where the next page begins."""

    items: tuple[ConceptProgress, ...] = field(metadata=documented("Concepts of this page."))
    total: int = field(metadata=documented("Concepts in all pages, 0 or more."))
    next: str | None = field(metadata=documented("Value of `after` for the next page; null on the last."))


async def list_fading(gm: Graphmem, who: Who, days: int, first: int, after: str | None = None) -> ProgressPage:
    """Concepts whose chance of recall falls below 0.7 in some days unless they are practised, the soonest first.

    What is below already is not among them: it is forgotten, and `list_progress` has it.

    Parameters
    ----------
    gm : Graphmem
    who : Who
    days : 1 to 365
    first : 1 to settings.page_size
    after : `next` of the page before

    Raises
    ------
    InvalidInput    a number is out of range, or the concept of `after` is no longer among them

    Source: spec 10, 11.
    """
    if not 1 <= first <= gm.settings.page_size:
        raise InvalidInput(f"first must lie between 1 and {gm.settings.page_size}.")
    if not 1 <= days <= DAYS_AHEAD:
        raise InvalidInput(f"days must lie between 1 and {DAYS_AHEAD}.")
    now = gm.clock()
    until = now + timedelta(days=days)
    fading = sorted(
        (fades_at(held), id)
        for id, held in (await overlays.list_retentions(gm.graph, who)).items()
        # The moment itself takes a search, so it is looked for only where it is near.
        if recall_at(held, now) >= FADED_RECALL > recall_at(held, until)
    )
    ids = [id for _, id in fading]
    if after is not None and after not in ids:
        raise InvalidInput("The concept of `after` is no longer about to be forgotten: begin with the first page.")
    start = 0 if after is None else ids.index(after) + 1
    shown = ids[start : start + first]
    known = {each.concept.id: each for each in await overlays.list_held(gm.graph, who, shown)}
    items = tuple(await progress_of(gm, who, [known[id] for id in shown if id in known]))
    return ProgressPage(items, len(ids), ids[start + first - 1] if start + first < len(ids) else None)
