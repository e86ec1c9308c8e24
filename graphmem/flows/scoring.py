"""Scores of a message before any mind is asked: match, surprise and its level, importance (spec 4 to 6)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from graphmem.language.analysis import BANDS, MessageAnalysis
from graphmem.language.heads import HeadScores
from graphmem.maths import features, importance, surprise
from graphmem.maths.surprise import MessageParts
from graphmem.model import Alternative, Attention, Author, Level, Matrix, Message, Prediction, State, Task, Vector
from graphmem.text import matching
from graphmem.text.affect import AffectModel
from graphmem.text.doc import Doc, doc_of
from graphmem.text.match_model import MatchModel
from graphmem.text.pairs import Compared, pair_features

SURPRISE_WINDOW = 50
"""Messages that a new one is compared with (spec 5)."""
GRAVE_FROM = 0.9
"""Chance from which on a message tells something grave: 84 % of 116 life events have it, and none of 200 messages of
tutoring."""
RAISING_NOTHING = ("nothing", "ordinary")
"""Weights that raise no level."""
FIRST_SHIFT = 5
"""The first message of a student that may be a paradigm shift."""
LITTLE_KNOWN = 4
"""Turns of a student after which a signal alone may be a paradigm shift (spec 5)."""


@dataclass(frozen=True)
class Sensed:
    """Outputs of the models for a message.

    emotion : float in [0, 1], strength of feeling
    match : float in [0, 1], chance that the prediction came true; None where there was none
    parrot : match of the student's own message before, taken as a prediction; None where there was none
    likely : float in (0, 1], how likely the alternative that came nearest was thought, against the likeliest
    told : float in [0, 1], the chance that its content is grave: of band three
    """

    emotion: float = 0.0
    match: float | None = None
    parrot: float | None = None
    likely: float = 1.0
    told: float = 0.0


@dataclass(frozen=True)
class Senses:
    """The models, and whether embeddings are of the shipped model, which they were made for."""

    affect: AffectModel
    matches: MatchModel
    shipped: bool

    def of(
        self,
        message: Message,
        reading: MessageAnalysis,
        before: Message | None,
        expected: Prediction | None,
        previous: Message | None = None,
    ) -> Sensed:
        """Sense a message.

        Parameters
        ----------
        message : Message, with embedding
        reading : MessageAnalysis, of the message
        before : Message that it answers, if any
        expected : Prediction, with embeddings; None where nothing was foreseen in this session
        previous : Message, the student's own before it in this session, if there is one
        """
        said = self._compared(message)
        asked = self._asked(before, said)
        emotion = features.emotion(said.valence, self.affect.arousal(said.doc, reading.vector))
        sensed = Sensed(emotion=emotion, told=reading.scores.chance("band", BANDS[-1]))
        if expected is None:
            return sensed
        foreseen = (Alternative(expected.text, expected.chance, expected.embedding), *expected.alternatives)
        repeated = () if previous is None or previous.embedding is None else (previous,)
        # The forest judges many pairs in the time of one.
        pairs = [pair_features(asked, self._compared(each), said) for each in (*foreseen, *repeated)]
        chances = self.matches.chances(np.stack(pairs))
        best = int(np.argmax(chances[: len(foreseen)]))
        return replace(
            sensed,
            match=chances[best],
            parrot=chances[-1] if repeated else None,
            likely=foreseen[best].chance / max(each.chance for each in foreseen),
        )

    def _asked(self, before: Message | None, said: Compared) -> Compared:
        """Return the message that another one answers, as it is compared."""
        if before is None:
            return Compared(Doc(""), np.zeros_like(said.vector))
        return self._compared(replace(before, embedding=_or_nothing(before.embedding, said.vector)))

    def _compared(self, of: Message | Alternative) -> Compared:
        doc = doc_of(of) if isinstance(of, Message) else Doc(of.text)
        if of.embedding is None:
            raise ValueError("an embedding is missing")
        return Compared(doc, of.embedding, self.affect.valence(doc, of.embedding if self.shipped else None))


def _or_nothing(vector: Vector | None, like: Vector) -> Vector:
    """Return a vector, or one that is like nothing: a message that nobody embedded is compared in words alone."""
    return np.zeros_like(like) if vector is None else vector


@dataclass(frozen=True)
class Score:
    """Scores of a message, computed before any mind is asked (spec 4 to 6).

    surprising : the sum that `surprise` is calibrated from
    rate : messages a minute
    parts : of message surprise, before calibration
    unusual : its unusual features, as `graphmem.maths.surprise.unusual` names them
    parrot : match of the student's own message before; None where nothing was expected
    told : float in [0, 1], the chance that its content is grave
    """

    match: float | None
    surprise: float
    surprising: float
    level: Level
    importance: float
    threshold: float
    attention: tuple[Attention, ...]
    rate: float
    parts: MessageParts
    unusual: tuple[str, ...] = ()
    parrot: float | None = None
    told: float = 0.0

    @property
    def matched(self) -> bool | None:
        """True if the expectation came true; None where there was none."""
        return None if self.match is None else self.match >= matching.MATCHED


def score(
    message: Message,
    known: Sequence[Message],
    state: State,
    sensed: Sensed,
    task: Task | None = None,
    named: bool = False,
    likest: float = 0.0,
) -> Score:
    """Score a message against the conversation and the prediction.

    Parameters
    ----------
    message : Message, with embedding
    known : messages of the session, oldest first; those without an embedding are not compared in meaning
    state : State
    sensed : Sensed, outputs of the models for it
    task : Task of the talk, if known
    named : it names an entity of the student's memories
    likest : cosine of the memory nearest to it; 0 where there is none
    """
    window, vector = known[-SURPRISE_WINDOW:], vector_of(message)
    parts = _surprise_parts(message, window, task)
    error = None if sensed.match is None else surprise.prediction_error(sensed.match, sensed.likely)
    surprising = surprise.combined(surprise.message_surprise(parts), error, sensed.told)
    signal = surprise.signal(surprising, state.signals)
    level = _level(signal, state)
    now = message.at.timestamp()
    # The replies come as fast as they are made: how busy it is, the student says.
    said = [m.at.timestamp() for m in window if m.author is Author.STUDENT]
    rate = features.messages_per_minute([*said, now], now)
    latest = max((m.at.timestamp() for m in window), default=now)
    distance = min(features.distance(stacked_vectors(window, len(vector)), vector), 1.0 - likest)
    values = importance.Features(
        mentioned=float(named or matching.named(doc_of(message), [state.companion.name])),
        recency=features.recency(now - latest),
        heat=importance.activity(rate),
        expertise=_expertise(doc_of(message), state.companion.expertise, task),
        novelty=surprise.novelty(distance),
        emotion=sensed.emotion,
    )
    warmth = importance.temperature(importance.activity(rate))
    return Score(
        match=sensed.match,
        surprise=signal,
        surprising=surprising,
        level=level,
        importance=importance.importance(values, warmth),
        threshold=importance.threshold(rate),
        attention=importance.attention(values, warmth),
        rate=rate,
        parts=parts,
        unusual=() if level is Level.NORMAL else surprise.unusual(parts),
        parrot=sensed.parrot,
        told=sensed.told,
    )


def judged_anew(scored: Score, match: float | None, state: State) -> Score:
    """Return the score of a message after a mind's verdict on its prediction; unchanged without one."""
    if match is None:
        return scored
    error = surprise.prediction_error(match)
    surprising = surprise.combined(surprise.message_surprise(scored.parts), error, scored.told)
    signal = surprise.signal(surprising, state.signals)
    level = _level(signal, state)
    unusual = () if level is Level.NORMAL else surprise.unusual(scored.parts)
    return replace(scored, match=match, surprise=signal, surprising=surprising, level=level, unusual=unusual)


def levelled(scored: Score, told: HeadScores | None, turns: int, *, shaken: bool) -> Score:
    """Return the score of a message, its level bounded by the weight of its content (spec 5).

    Parameters
    ----------
    scored : Score
    told : scores of the encoder's heads for the message; None where it surely carries no information
    turns : of the student before it
    shaken : whether it takes back a belief
    """
    weight, levels = "nothing" if told is None else told.likely("weight"), list(Level)
    grave_told = shaken or (told is not None and told.chance("weight", "grave") >= GRAVE_FROM)
    least = Level.COGNITIVE_DISSONANCE if grave_told else Level.NORMAL if weight in RAISING_NOTHING else Level.BOUNDARY
    early = turns + 1 < FIRST_SHIFT
    most = Level.NORMAL if weight == "nothing" else Level.PARADIGM_SHIFT
    if early and most is Level.PARADIGM_SHIFT:
        # Who introduces themselves surprises nobody.
        most = Level.BOUNDARY if weight in RAISING_NOTHING else Level.COGNITIVE_DISSONANCE
    place = max(levels.index(least), min(levels.index(scored.level), levels.index(most)))
    return replace(scored, level=levels[place])


def grave(scored: Score) -> Score:
    """Return the score raised to cognitive dissonance at least, for a grave message (spec 5)."""
    shaken = scored.level in (Level.COGNITIVE_DISSONANCE, Level.PARADIGM_SHIFT)
    return scored if shaken else replace(scored, level=Level.COGNITIVE_DISSONANCE)


def _level(signal: float, state: State) -> Level:
    """Return the level of a signal; of a student who is hardly known none is a paradigm shift by its signal alone."""
    found = surprise.level(signal, surprise.thresholds(state.corrections))
    shaken = found is Level.PARADIGM_SHIFT and state.turns < LITTLE_KNOWN
    return Level.COGNITIVE_DISSONANCE if shaken else found


def _expertise(doc: Doc, topics: Sequence[str], task: Task | None) -> float:
    """Overlap of a message with the companion's expertise or with the concepts in work, whichever is more."""
    in_work = len(doc.stems & task.stems) / max(1, len(doc.stems)) if task is not None else 0.0
    return max(matching.overlap(doc, topics), in_work)


def _surprise_parts(message: Message, window: Sequence[Message], task: Task | None) -> surprise.MessageParts:
    """Return the parts of a message's surprise."""
    own = [m for m in window if m.author == message.author]
    times = [m.at.timestamp() for m in own]
    history = surprise.History(
        vectors=stacked_vectors(window, len(vector_of(message))),
        gaps=[max(0.0, b - a) for a, b in pairwise(times)],
        authors=[m.author for m in window],
        lengths=[len(m.text) for m in own],
        task=None if task is None else task.embedding,
    )
    gap = max(0.0, message.at.timestamp() - times[-1]) if times else 0.0
    return surprise.message_parts(history, vector_of(message), gap, message.author, len(message.text))


def vector_of(of: Message | Prediction) -> Vector:
    if of.embedding is None:
        raise ValueError("an embedding is missing")
    return of.embedding


def stacked_vectors(messages: Sequence[Message], dimension: int) -> Matrix:
    rows = [m.embedding for m in messages if m.embedding is not None]
    return np.stack(rows) if rows else np.zeros((0, dimension), dtype=np.float32)
