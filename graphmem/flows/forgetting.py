"""Forgetting a memory, a fact or an observation: it goes, and so does what it fed (spec 14, 15)."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from graphmem.app import Graphmem
from graphmem.errors import Conflict, Locked, NotFound
from graphmem.flows.ending import stems_of
from graphmem.flows.session_cache import ENDED, check_running, open_memories
from graphmem.model import Erased, Memory, MemoryRole, Session
from graphmem.store import ledger, sources, students, turns
from graphmem.store.memories import Forgetting, WaitingWork, delete_with_traces, find_traces
from graphmem.text.doc import Doc
from graphmem.text.lexicon import STOP_WORDS
from graphmem.text.normalize import said
from graphmem.text.stems import stem
from graphmem.text.words import sentence_spans, word_rarity
from graphmem.validation import checked_id

DECISIONS = 3
"""How often it is decided anew what goes, because the student was changed meanwhile."""
RARE = 4.5
"""Rarity from which a word that nothing else remembered holds gives a matter away by itself."""
TELLING_SHARE = 0.5
"""Share of a matter's content words from which a text tells it."""
LEAST_WORDS = 2
"""Fewest content words that a text which tells a matter shares with it."""
SUBJECTS = ("text", "actual")
"""What the payload of a job is about: the message itself."""


async def forget_memory(gm: Graphmem, session: Session, memory_id: str) -> Erased:
    """Delete a memory and what it fed, for good.

    It fed what was made of it or of the messages it comes from: episodes, beliefs, procedures, its ledger entries,
    uncertainties, questions, raw turns, waiting jobs. With it goes what tells the same: facts, ledger entries,
    questions, turns of the running talk whose message or reply does, the prediction; the sentences of a summary that
    do, and what was said before another memory. What the same message says beside it stays. Its sources stay, without
    a word, so that it is not formed again; so does the flag of a danger.

    Returns
    -------
    Erased, how much was deleted

    Raises
    ------
    InvalidInput    the id will not do
    NotFound        there is no such memory
    Locked          the session has ended
    Conflict        the student was changed again and again meanwhile

    Source: spec 14, 15.
    """
    checked_id("memoryId", memory_id)
    async with gm.lock(session):
        for _ in range(DECISIONS):
            done = await _forgotten(gm, session, memory_id)
            if done is None:
                await check_running(gm, session)
                raise NotFound("There is no such memory.")
            current, erased = done
            if current:
                return erased
    raise Conflict("The student was changed meanwhile: forget it again.")


async def _forgotten(gm: Graphmem, session: Session, memory_id: str) -> tuple[bool, Erased] | None:
    enrolled = await students.find_enrolled(gm.graph, session, gm.clock())
    traces = None if enrolled is None else await find_traces(gm.graph, session, enrolled.lock, gm.clock())
    if enrolled is None or traces is None:
        raise Locked(ENDED)
    held = await open_memories(gm, session)
    memory, everything = held.index.get(memory_id), held.index.latest(len(held.index))
    forgetting = Forgetting(traces.version)
    if memory is not None:
        matter = matter_of(memory, everything, held.name)
        changed, emptied = changed_memories(matter, memory, everything)
        before = {each.id: each.words for each in everything}
        contents = {each.id: each.content or "" for each in changed if each.words != before[each.id]}
        vectors = dict(zip(contents, await gm.embedder.embed(list(contents.values())), strict=True)) if contents else {}
        works = [(work, changed_payload(matter, dict(work.payload))) for work in traces.jobs]
        talk = await turns.list_turns(gm.graph, session)
        waiting = await turns.list_unanswered(gm.graph, session)
        kept_entries = await ledger.list_stored_entries(gm.graph, session, gm.clock())
        told = {
            each.turn_id: (each.text, each.reply, each.given_reply, each.opener, each.task)
            for each in (*talk, *waiting)
        }
        forgetting = Forgetting(
            version=traces.version,
            facts=tuple(
                fact.id
                for fact in await turns.list_ring(gm.graph, session, gm.settings.facts_kept)
                if matter.is_told_by(fact.text)
            ),
            turns=tuple(turn_id for turn_id, texts in told.items() if any(map(matter.is_told_by, texts))),
            entries=tuple(kept.entry.id for kept in kept_entries or () if matter.is_told_by(kept.entry.content)),
            questions=tuple(id for id, text in traces.questions.items() if matter.is_told_by(text)),
            jobs=tuple(work.id for work, left in works if left is None),
            emptied=(*emptied, *(each.id for each in stems_of(memory_id, held.index))),
            rewritten=tuple((each, vectors.get(each.id, held.index.vector(each.id))) for each in changed),
            payloads=tuple(
                WaitingWork(work.id, work.kind, left)
                for work, left in works
                if left is not None and left != work.payload
            ),
            prediction=matter.is_told_by(traces.prediction),
        )
    async with gm.memory_lock(session):
        done = await delete_with_traces(gm.graph, session, enrolled.lock, memory_id, forgetting, gm.clock())
        # Turns, memories and what is not formed yet are read anew without it.
        gm.lock_up(session)
    return done


async def delete_fact(gm: Graphmem, session: Session, fact_id: str) -> bool:
    """Delete a fact for good; what it was learned from stays.

    Returns
    -------
    False where there is no such fact, so that twice is as once

    Raises
    ------
    InvalidInput    the id will not do
    Locked          the session has ended
    """
    checked_id("id", fact_id)
    async with gm.lock(session):
        deleted = await turns.remove_fact(gm.graph, session, fact_id, gm.clock())
        gm.drop(session)
    if deleted is None:
        raise Locked(ENDED)
    return deleted


async def delete_observation(gm: Graphmem, session: Session, source_id: str) -> Erased:
    """Delete what was observed: its words, the memories that come from it alone with what they fed, and its job.

    Memories that come from something else too stay, and so does the source, without a word: the same observation sent
    again changes nothing. Practice that was noted with it stays; `setAttitude` corrects it.

    Parameters
    ----------
    gm : Graphmem
    session : Session
    source_id : str, as `observe` gives it, or as of the sources of a memory

    Raises
    ------
    InvalidInput    the id will not do
    NotFound        there is no such observation
    Locked          the session has ended

    Source: spec 14, 15.
    """
    checked_id("id", source_id)
    found = await sources.find_formed(gm.graph, session, source_id, gm.clock())
    if found is None:
        await check_running(gm, session)
        raise NotFound("There is no such observation.")
    erased = Erased()
    for memory_id in found:
        try:
            erased += await forget_memory(gm, session, memory_id)
        except NotFound:
            # It went with another one.
            continue
    async with gm.lock(session), gm.memory_lock(session):
        rest = await sources.delete_contents(gm.graph, session, source_id, gm.clock())
        gm.lock_up(session)
    if rest is None:
        raise Locked(ENDED)
    return erased + rest


@dataclass(frozen=True)
class Matter:
    """What is to be forgotten.

    texts : as they were said or stated, folded
    words : stems of its content words
    telling : those that are rare and that nothing else remembered holds
    """

    texts: frozenset[str]
    words: frozenset[str]
    telling: frozenset[str]

    def is_told_by(self, text: str | None) -> bool:
        """Return whether a text tells it: word for word, by a word that only it has, or by half of its content words.

        Examples
        --------
        >>> matter = Matter(frozenset(), frozenset({"bring", "marmalad", "otti"}), frozenset({"marmalad"}))
        >>> matter.is_told_by("And the marmalades?"), matter.is_told_by("Bring a pencil.")
        (True, False)
        """
        if not text:
            return False
        folded, words = said(text), content_stems(text)
        shared = len(words & self.words)
        enough = shared >= LEAST_WORDS and shared >= TELLING_SHARE * len(self.words)
        return bool(words & self.telling) or enough or any(each in folded for each in self.texts)


def content_stems(text: str) -> frozenset[str]:
    """Return the stems of a text's content words, numbers included.

    Examples
    --------
    >>> sorted(content_stems("I hid 9 jars of marmalade"))
    ['9', 'hide', 'jar', 'marmalad']
    """
    return frozenset(map(stem, _telling_words(text)))


def _telling_words(text: str) -> Iterator[str]:
    words = (word.removesuffix("'s") for word in Doc(text).plain_words)
    return (word for word in words if word[:1].isalnum() and word.split("'")[0] not in STOP_WORDS)


def matter_of(memory: Memory, others: Iterable[Memory], name: str | None) -> Matter:
    """Return what forgetting a memory is about.

    Parameters
    ----------
    memory : Memory, opened
    others : all that is remembered; what was made of others counts no more than they do
    name : of the student, which says nothing about the matter
    """
    own = content_stems(name or "") | content_stems("the student")
    texts = [text for text in (memory.content, memory.quote) if text]
    words = frozenset().union(*map(content_stems, texts)) - own
    known = (content_stems(each.words) for each in others if each.id != memory.id and each.role is MemoryRole.SAID)
    rare = {stem(word) for text in texts for word in _telling_words(text) if word_rarity(word) >= RARE}
    return Matter(frozenset(said(text) for text in texts), words, (words & rare) - frozenset().union(*known))


def without(matter: Matter, text: str) -> str:
    """Return a text without the sentences that tell a matter.

    Examples
    --------
    >>> matter = Matter(frozenset(), frozenset({"marmalad"}), frozenset({"marmalad"}))
    >>> without(matter, "Ann has a horse. She hides marmalade. She likes teal.")
    'Ann has a horse. She likes teal.'
    """
    lines = (
        " ".join(part for start, end in sentence_spans(line) if not matter.is_told_by(part := line[start:end].strip()))
        for line in text.split("\n")
    )
    return "\n".join(line for line in lines if line)


def changed_memories(matter: Matter, memory: Memory, others: Sequence[Memory]) -> tuple[list[Memory], list[str]]:
    """Memories that keep the words of one, as they are without them, and ids of those of which nothing is left."""
    left = [(other, _left_of(matter, other)) for other in others if other.id != memory.id]
    changed = [after for other, after in left if after is not None and after is not other]
    return changed, [other.id for other, after in left if after is None]


def _left_of(matter: Matter, memory: Memory) -> Memory | None:
    """Return a memory without the words that tell a matter; None of a lesson or summary that says nothing else."""
    if memory.role is MemoryRole.LESSON:
        quote, before = without(matter, memory.quote or ""), without(matter, memory.before or "")
        if not quote or matter.is_told_by(memory.content):
            return None
        same = (quote, before) == (memory.quote, memory.before or "")
        return memory if same else replace(memory, quote=quote, before=before or None)
    after = replace(memory, before=None) if matter.is_told_by(memory.before) else memory
    parts = [(each, f"{each.content} {each.quote or ''}") for each in memory.statements]
    words = (memory.words, *(told for _, told in parts))
    if memory.role is not MemoryRole.SUMMARY or not any(map(matter.is_told_by, words)):
        return after
    content, quote = without(matter, memory.content or ""), without(matter, memory.quote or "")
    kept = tuple(each for each, told in parts if not matter.is_told_by(told))
    return replace(after, content=content, quote=quote or None, statements=kept) if content else None


def changed_payload(matter: Matter, payload: dict[str, Any]) -> dict[str, Any] | None:
    """Return the payload of a job without what tells a matter; None where its own message does."""
    if any(matter.is_told_by(payload.get(name)) for name in SUBJECTS):
        return None
    return {name: _kept_value(matter, name, value) for name, value in payload.items()}


def _kept_value(matter: Matter, name: str, value: Any) -> Any:
    if isinstance(value, list):
        return [each for each in value if not (isinstance(each, str) and matter.is_told_by(each))]
    told = isinstance(value, str) and name not in SUBJECTS and matter.is_told_by(value)
    return "" if told else value
