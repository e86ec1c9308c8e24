"""The fog: concepts that a student has not met are kept out of all shown texts (spec 11)."""

import asyncio
from collections.abc import Sequence
from time import monotonic

from graphmem.app import Graphmem
from graphmem.cache import StudentState
from graphmem.errors import NotFound
from graphmem.model import Concept, Vector, Who
from graphmem.ports import Embedder, OnToken
from graphmem.search.fog import Fog, OpenWorld
from graphmem.store import overlays
from graphmem.store.world import list_names
from graphmem.text.concepts import ConceptNames, NamedSpan
from graphmem.text.senses import Sense, is_action, sense_texts
from graphmem.text.sentences import SentenceSpan, sentence_spans
from graphmem.text.words import fine_tokens, word_rarity

FRESH_SECONDS = 1.0
"""Seconds for which a cached world and overlay are used without checking their versions."""
EMBEDDED_AT_ONCE = 256
"""Concepts whose meaning is embedded at once."""
WORDS_JUDGED = 2
"""Words of the shortest piece of a reply that is judged, and shown, before what follows it is known."""
LOOKED_BACK = 80
"""Characters of a reply before a sentence that are read with it, so that no name is cut in two."""


async def fog_of(gm: Graphmem, who: Who, versions: tuple[int, int] | None = None) -> Fog:
    """Return the fog of a student, read where it is missing or of other versions.

    Parameters
    ----------
    gm : Graphmem
    who : Who
    versions : of the world and of the overlay, where they were just read; None: those of the last second will do

    Raises
    ------
    NotFound        there is no such student
    Unavailable     Neo4j does not answer
    """
    state = gm.cache.state(who)
    if versions is None and state.fog is not None and _is_fresh(gm, who, state):
        return state.fog
    versions = versions or await overlays.find_versions(gm.graph, who)
    if versions is None:
        raise NotFound("There is no such student.")
    world, overlay = versions
    fog = state.fog
    if fog is None or (fog.world.version, fog.version) != versions:
        opened = await _world(gm, who.institution, world)
        # The versions were read first: concepts revealed meanwhile are read once more, never missed.
        known = frozenset(await overlays.list_known_ids(gm.graph, who)) if opened.names else frozenset()
        fog = state.fog = Fog(opened, known, overlay)
    state.fog_seen = monotonic()
    return fog


def _is_fresh(gm: Graphmem, who: Who, state: StudentState) -> bool:
    """Return whether a fog was looked at just now, and this process has changed no world since."""
    held = None if state.fog is None else state.fog.world
    return monotonic() - state.fog_seen < FRESH_SECONDS and held is gm.worlds.get(who.institution)


async def _world(gm: Graphmem, institution: str, version: int) -> OpenWorld:
    """Return the names of a world, from this process's cache where it has this version."""
    async with gm.worlds.lock(institution):
        held = gm.worlds.get(institution)
        if held is None or held.version != version:
            concepts = await list_names(gm.graph, institution)
            names = await asyncio.to_thread(ConceptNames, concepts)
            held = OpenWorld(version, names, await read_senses(gm.embedder, concepts, names))
            gm.worlds[institution] = held
        return held


async def read_senses(
    embedder: Embedder, concepts: Sequence[Concept], names: ConceptNames
) -> dict[tuple[str, str], Sense]:
    """Return what common words mean as names of concepts, by concept id and word."""
    by_id, common, senses = {each.id: each for each in concepts}, names.common_words, {}
    for i in range(0, len(common), EMBEDDED_AT_ONCE):
        some = common[i : i + EMBEDDED_AT_ONCE]
        texts = [text for concept_id, word in some for text in sense_texts(by_id[concept_id], word)]
        vectors = await embedder.embed(texts)
        for place, key in enumerate(some):
            meaning, description, word = vectors[3 * place : 3 * place + 3]
            plainness, is_one = float(word @ description), is_action(by_id[key[0]])
            senses[key] = Sense(meaning, word, plainness, word_rarity(key[1]), is_one)
    return senses


async def hidden_in(gm: Graphmem, fog: Fog, texts: Sequence[str]) -> list[tuple[NamedSpan, ...]]:
    """For each text, the names in it that mean a hidden concept; common words are judged by their sentence."""
    if not fog:
        return [()] * len(texts)
    found = [fog.hidden(text) for text in texts]
    doubtful = [
        (text[start:end], start, end, row)
        for row, (text, mentions) in enumerate(zip(texts, found, strict=True))
        if any(m.is_common for m in mentions)
        for start, end in sentence_spans(text)
        if any(m.is_common and start <= m.start < end for m in mentions)
    ]
    vectors = await gm.embedder.embed([sentence for sentence, *_ in doubtful]) if doubtful else ()
    places = [(row, start, end, vector) for (_, start, end, row), vector in zip(doubtful, vectors, strict=True)]

    def vector_of(row: int, mention: NamedSpan) -> Vector | None:
        return next((v for r, start, end, v in places if r == row and start <= mention.start < end), None)

    return [tuple(m for m in mentions if fog.is_meant(m, vector_of(row, m))) for row, mentions in enumerate(found)]


class ReplyFilter:
    """A reply on its way to the student, sentence by sentence; what names a hidden concept is not let through.

    Called with the pieces of a reply as they are written; a sentence is shown once it is whole and known to be clear.

    Parameters
    ----------
    gm : Graphmem
    fog : Fog, not empty
    on_token : called with the text let through; None where nobody listens
    """

    def __init__(self, gm: Graphmem, fog: Fog, on_token: OnToken | None) -> None:
        self._gm, self._fog, self._on_token = gm, fog, on_token
        self._raw = self._held = self._shown = ""
        self._waiting: list[str] = []
        self._said_instead = False

    async def __call__(self, piece: str) -> None:
        """Take a piece of the reply."""
        self._raw += piece
        self._held += piece
        await self._pass_on(sentence_spans(self._held)[1:])

    async def finish(self, reply: str) -> str:
        """Return the reply as it was let through.

        Parameters
        ----------
        reply : str, all of it; text not taken in pieces yet is let through now
        """
        if not self._raw:
            self._raw = self._held = reply
        await self._pass_on([*sentence_spans(self._held)[1:], (len(self._held), len(self._held))])
        # A mind that was given up half way is followed by another, whose words are what counts.
        return self._shown if self._raw == reply else await ReplyFilter(self._gm, self._fog, None).finish(reply)

    async def _pass_on(self, starts: Sequence[SentenceSpan]) -> None:
        """Let through, or hold back, the text before each start."""
        done = 0
        for start, end in starts:
            piece = self._held[done:start]
            self._waiting.append(piece)
            done = start
            # A line of a single word may be a piece of a name: it waits for the next line.
            words = [word for word in fine_tokens(piece) if not word.text.isdigit()]
            if len(words) >= WORDS_JUDGED or start == end:
                await self._judge(self._waiting)
                self._waiting = []
        self._held = self._held[done:]

    async def _judge(self, pieces: Sequence[str]) -> None:
        """Show the pieces that contain no hidden name, whole or in part."""
        before = self._shown[-LOOKED_BACK:]
        (found,) = await hidden_in(self._gm, self._fog, [before + "".join(pieces)])
        start = len(before)
        for piece in pieces:
            end = start + len(piece)
            shown = piece
            if any(mention.start < end and start < mention.end for mention in found):
                shown = "" if self._said_instead else f"{self._gm.settings.not_yet}{piece[len(piece.rstrip()) :]}"
                self._said_instead = True
            start = end
            self._shown += shown
            if shown and self._on_token is not None:
                await self._on_token(shown)
