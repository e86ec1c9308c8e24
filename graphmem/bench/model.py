"""Effects of a language model's answers in the service: notes, links, ledger, alarms, and their cost (spec 17).

Shares are of the model's answers. A link arrives when the statement it names is repeated, refined, ended, settled or in
doubt afterwards; an instruction binds when it stands in the ledger as one.
"""

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import TypeVar
from uuid import uuid4

from graphmem import model
from graphmem.app import Graphmem
from graphmem.bench import Figures
from graphmem.bench.harness import Learner, in_process, learner
from graphmem.bench.scores import shares
from graphmem.bench.talks import recorded_turn
from graphmem.errors import InvalidInput
from graphmem.flows.facts import known_facts
from graphmem.flows.ledger import list_entries
from graphmem.flows.session_cache import open_memories
from graphmem.flows.turn import handle_turn
from graphmem.jobs.runner import run_jobs
from graphmem.metrics import registry
from graphmem.ports import Mind, OnToken
from graphmem.progress import tracked
from graphmem.samples import sample_dialogues, written_story
from graphmem.samples.dialogues import Dialogue, dialogue_turns, load_dialogues
from graphmem.settings import Settings
from graphmem.store.memories import list_edges
from graphmem.text.normalize import cleaned
from graphmem.text.safety import find_danger

T = TypeVar("T")
BETWEEN_TURNS = timedelta(seconds=40)
NOTE_RESULTS = ("stored", "replaced", "refused")
MODEL_SHARES = {
    "as_written": ("written", "answered"),
    "bound": ("binding", "instructions"),
    "in_ledger": ("entries", "ledger"),
    "links_arrived": ("arrived", "links"),
    "denied_silent": ("silent", "denied"),
    "signs_heard": ("heard", "signs"),
}
"""Each share with its counters; a share of nothing is left out."""
MODEL_COUNTS = (*{whole: 1 for _, whole in MODEL_SHARES.values()}, "turns", "held", "ended", "alarmed", "added")


class WatchedMind:
    """A mind with its answers to the memory prompt, whether it denied danger lately, its usage and its pace.

    paces : seconds to the first word of each reply, since it was asked
    """

    failing: str | None = None

    def __init__(self, mind: Mind) -> None:
        self.mind, self.name, self.seconds = mind, mind.name, mind.seconds
        self.together, self.links = mind.together, mind.links
        self.answers: list[tuple[model.Remember, model.Notes]] = []
        self.usage = model.Usage()
        self.denies = False
        self.paces: list[float] = []

    async def ask(self, question: model.MindQuestion[T], on_token: OnToken | None = None) -> model.Answer[T]:
        """See `Mind.ask`."""
        answer = await self.mind.ask(question, on_token and first_word(self.paces, on_token))
        self.usage += answer.usage
        if isinstance(question, model.Remember) and isinstance(answer.value, model.Notes):
            self.answers.append((question, answer.value))
        if isinstance(answer.value, model.Response):
            self.denies = answer.value.judged and answer.value.danger is None
        return answer

    async def aclose(self) -> None:
        """Release nothing: the mind belongs to its maker."""


def first_word(paces: list[float], on_token: OnToken | None = None) -> OnToken:
    """Pass on the pieces of a reply; the seconds from now to the first one are added to `paces`."""
    began, waiting = perf_counter(), True

    async def passed_on(piece: str) -> None:
        nonlocal waiting
        if waiting:
            waiting = False
            paces.append(perf_counter() - began)
        if on_token is not None:
            await on_token(piece)

    return passed_on


@dataclass(frozen=True)
class HeldOfStudent:
    """The stored memories of a student.

    memories : ids by their texts
    entries : categories of the ledger's entries by their texts
    ended, again : ids of ended memories, and of repeated ones
    joined : pairs of memories between which there is an edge
    """

    memories: dict[str, str]
    entries: dict[str, model.LedgerCategory]
    ended: set[str]
    again: set[str]
    joined: set[frozenset[str]]


def measure_model(settings: Settings, file: Path | None) -> Figures:
    """Play dialogues, by default the shipped ones, with the configured model.

    Raises
    ------
    InvalidInput    no model is configured, or the file is of another format
    """
    if settings.model == "offline":
        raise InvalidInput("Name a model in GRAPHMEM_MODEL: the offline mind answers no prompts.")
    dialogues = [*sample_dialogues(), *written_story()] if file is None else load_dialogues(file)
    return in_process(settings, lambda gm: model_figures(gm, dialogues))


async def model_figures(gm: Graphmem, dialogues: Sequence[Dialogue]) -> Figures:
    """Play dialogues through the service and count what becomes of the answers.

    Returns
    -------
    Counts; shares, each in [0, 1]; calls and tokens a turn; cost in US dollars of all; seconds to the first word of a
    reply, of a whole turn and of the model alone
    """
    counts, usage, before = Counter[str](), model.Usage(), _results()
    for student in tracked(dict.fromkeys(each.student for each in dialogues), "Students"):
        watched, pupil = await _watching(gm, student)
        for dialogue in dialogues:
            if dialogue.student == student:
                counts += await _played(pupil, watched, dialogue)
        counts += await _counted(pupil, watched.answers)
        usage += watched.usage
        await pupil.end()
    notes = {name: _results()[name] - before[name] for name in NOTE_RESULTS}
    counts["answered"] = int(sum(notes.values()))
    found = {name: value for name, value in shares(counts, MODEL_SHARES).items() if counts[MODEL_SHARES[name][1]]}
    turns = max(1, counts["turns"])
    spent = {"calls": usage.calls / turns, "tokens_in": usage.input_tokens / turns}
    spent |= {"tokens_out": usage.output_tokens / turns, "cost": usage.cost}
    paces = await _paces(gm, dialogues[0])
    return {name: float(counts[name]) for name in MODEL_COUNTS} | notes | found | spent | paces


async def _watching(gm: Graphmem, student: str) -> tuple[WatchedMind, Learner]:
    watched = WatchedMind(gm.mind)
    pupil = await learner(replace(gm, mind=watched), f"model-{uuid4().hex[:8]}", called=student)
    await pupil.begin()
    return watched, pupil


async def _paces(gm: Graphmem, dialogue: Dialogue) -> dict[str, float]:
    """Return seconds to the first word of a reply that the model writes: of a whole turn, and of the model alone."""
    (watched, pupil), paces = await _watching(gm, dialogue.student), list[float]()
    for place, turn in enumerate(dialogue_turns(dialogue)):
        incoming = replace(recorded_turn(dialogue, place, turn, pupil.now), reply=None)
        await handle_turn(pupil.gm, pupil.session, incoming, on_token=first_word(paces))
    await pupil.end()
    timed = {"first_word": paces, "model_first_word": watched.paces}
    return {name: median(seconds) for name, seconds in timed.items() if seconds}


def _results() -> dict[str, float]:
    return {r: registry.get_sample_value("graphmem_model_notes_total", {"result": r}) or 0.0 for r in NOTE_RESULTS}


async def _played(pupil: Learner, watched: WatchedMind, dialogue: Dialogue) -> Counter[str]:
    """Play one dialogue; count the detector's dangers, the ones the model denies, and the alarms of turns."""
    counts: Counter[str] = Counter()
    turns = dialogue_turns(dialogue)
    for place, turn in enumerate(turns):
        pupil.now += BETWEEN_TURNS
        watched.denies = False
        heard = await asyncio.to_thread(find_danger, turn.text, turn.before or "")
        outcome = await handle_turn(pupil.gm, pupil.session, recorded_turn(dialogue, place, turn, pupil.now))
        alarmed = outcome.concern is not None
        counts += Counter(turns=1, alarmed=alarmed)
        if heard is not None and heard.stands:
            counts += Counter(signs=1, heard=alarmed)
        elif heard is not None and watched.denies:
            counts += Counter(denied=1, silent=not alarmed)
        if (place + 1) % watched.together == 0 or place + 1 == len(turns):
            await run_jobs(pupil.gm, pupil.session)
    return counts


async def _kept_of_student(pupil: Learner) -> HeldOfStudent:
    index = (await open_memories(pupil.gm, pupil.session)).index
    memories, entries = index.latest(len(index)), await list_entries(pupil.gm, pupil.session)
    facts = await known_facts(pupil.gm, pupil.session)
    edges = await list_edges(pupil.gm.graph, pupil.who, [memory.id for memory in memories])
    over = {memory.id for memory in memories if memory.invalid_at is not None}
    over |= {fact.id for fact in facts if fact.invalid_at is not None}
    return HeldOfStudent(
        {memory.content or "": memory.id for memory in memories},
        {entry.content or "": entry.category for entry in entries if entry.category is not model.LedgerCategory.THREAT},
        over | {entry.id for entry in entries if not entry.is_active},
        {memory.id for memory in memories if memory.reinforcement_count},
        {frozenset((edge.from_id, edge.to_id)) for own in edges.values() for edge in own},
    )


async def _counted(pupil: Learner, answers: Sequence[tuple[model.Remember, model.Notes]]) -> Counter[str]:
    """Compare a student's notes with the stored memories."""
    kept, counts, said = await _kept_of_student(pupil), Counter[str](), set[str]()
    for question, notes in answers:
        said |= {notes.teach, *(lesson.text for _, lesson in notes.learned)}
        for place, note in ((place, note) for place, own in enumerate(notes.of) for note in own):
            text = _text(question, place, note)
            said.add(text)
            counts += _of_note(note, text, kept)
            for link in note.links:
                arrived = _arrives(link, kept.memories.get(text, ""), _target(link, question, notes, kept), kept)
                counts += Counter(links=1, arrived=arrived)
    ended, added = kept.ended & {*kept.memories.values()}, kept.memories.keys() - said
    return counts + Counter(held=len(kept.memories), ended=len(ended), added=len(added))


def _text(question: model.Remember, place: int, note: model.Note) -> str:
    return note.statement or cleaned(question.heard[place].text[note.start : note.end])


def _of_note(note: model.Note, text: str, kept: HeldOfStudent) -> Counter[str]:
    """Count whether a note is stored word for word or repeats a memory, and is in the ledger where it should be."""
    again = any(link.kind is model.Effect.SAME for link in note.links)
    counts = Counter(written=note.statement is not None and (again or text in kept.memories))
    if note.ledger is model.LedgerCategory.INSTRUCTION and note.scope is not model.Scope.OTHER:
        counts += Counter(instructions=1, binding=kept.entries.get(text) is model.LedgerCategory.INSTRUCTION)
    if note.ledger is not None:
        counts += Counter(ledger=1, entries=text in kept.entries)
    return counts


def _target(link: model.Link, question: model.Remember, notes: model.Notes, kept: HeldOfStudent) -> str:
    """Return the id of the memory that a link names; empty where it is not stored."""
    if link.note is None:
        return link.known
    note = notes.of[link.note.message][link.note.note]
    # What says again something known is kept with it.
    same = (_target(each, question, notes, kept) for each in note.links if each.kind is model.Effect.SAME)
    return kept.memories.get(_text(question, link.note.message, note)) or next(same, "")


def _arrives(link: model.Link, own: str, target: str, kept: HeldOfStudent) -> bool:
    """Return whether the memory that a link names shows its effect."""
    if link.kind is model.Effect.SAME:
        return target in kept.again
    if link.kind in (model.Effect.ENDS, model.Effect.SETTLES) or target not in kept.memories.values():
        return target in kept.ended
    return frozenset((own, target)) in kept.joined
