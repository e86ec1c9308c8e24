"""Decisions of a turn, as pure functions: its score, what is recalled, and everything it will write."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import pairwise

import numpy as np

from graphmem.flows.sensing import Sensed
from graphmem.flows.uncertainty_plan import MOST_RAISED, REASSURED_BY, raised, shifted_tolerance
from graphmem.language.analysis import MessageAnalysis
from graphmem.language.heads import HeadScores
from graphmem.maths import features, importance, surprise
from graphmem.maths.gravity import boosted
from graphmem.maths.surprise import MessageParts
from graphmem.model import (
    OF_A_SITTING,
    Answer,
    AskedFor,
    Attention,
    Author,
    Danger,
    Job,
    JobState,
    Level,
    Matrix,
    Message,
    Mismatch,
    Prediction,
    Question,
    RecalledId,
    RecalledTurn,
    Remembered,
    Response,
    State,
    Task,
    TurnOutcome,
    Uncertainty,
    Unlocked,
    Vector,
)
from graphmem.search.selection import shown
from graphmem.settings import Settings
from graphmem.store.jobs import FormJob, NewJob, SurpriseJob
from graphmem.store.turns import Boost, Raised, TurnWrite
from graphmem.text import matching
from graphmem.text.clauses import answers_question, told_clauses
from graphmem.text.dialogue_acts import Act, act_of
from graphmem.text.doc import Doc, doc_of
from graphmem.text.headings import heading
from graphmem.text.revision import retractions
from graphmem.text.slots import tells_attribute

WORKING_MEMORY = 50
"""Raw turns kept while a session is open."""

CONTEXT_TOKENS = 2000
"""Tokens of what is recalled for a turn."""

TURNS_RECALLED = 5
"""Recent turns recalled for a turn."""

SURPRISE_WINDOW = 50
"""Messages that a new one is compared with (spec 5)."""
IN_SIGHT = 3
"""Turns so recent that nobody needs to be reminded of them."""
SIGNALS = 100
"""Latest sums of surprise that are kept of a student, uncalibrated."""
IN_TALK = 5
"""Messages of the student before a surprising one that are read with it."""
EPISODE_AFTER, EPISODE_EVERY = 3, 5
"""Turns between two episodes where another matter begins, and where a message only has little to do with the last."""
TALK_BEFORE, TALK_CHARACTERS = 2, 400
"""Messages before one that may name whom it speaks of, and how much of their ends."""
ASKED_EVERY = 3
"""Turns between two replies that ask a question of the companion's own."""
GRAVE_FROM = 0.9
"""Chance from which on a message tells something grave: 84 % of 116 life events have it, and none of 200 messages of
tutoring."""
IDLE_TALK, SURELY_IDLE = ("greeting", "goodbye", "thanks", "reaction"), 0.9
"""What a message does of which nothing is formed, and the chance from which on it does."""
RAISING_NOTHING = ("nothing", "ordinary")
"""Weights that raise no level."""
FIRST_SHIFT = 5
"""The first message of a student that may be a paradigm shift."""
APP = "app"
"""Who replied when the app wrote the reply itself; else the name of a mind."""
SIMILAR = 0.35
"""Cosine from which an earlier turn fits a message."""


@dataclass(frozen=True)
class Familiar:
    """What the student's memories know of a message.

    named : it names an entity of theirs
    likest : cosine of the memory nearest to it; 0 where there is none
    """

    named: bool = False
    likest: float = 0.0


LITTLE_KNOWN = 4
"""Turns of a student after which a signal alone may be a paradigm shift (spec 5)."""


@dataclass(frozen=True)
class Score:
    """Scores of a message, computed before any mind is asked (spec 4 to 6).

    surprising : the sum that `surprise` is calibrated from
    rate : messages a minute
    parts : of message surprise, before calibration
    unusual : what about it was out of the ordinary, as `graphmem.maths.surprise.unusual` names it
    parrot : what the student's own message before would have matched; None where nothing was expected
    told : float in [0, 1], the chance that what it tells is grave
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
    familiar: Familiar | None = None,
) -> Score:
    """Score a message against the conversation and what was expected of it.

    Parameters
    ----------
    message : Message, with embedding
    known : messages of the session, oldest first; those without an embedding are not compared in meaning
    state : State
    sensed : Sensed, what the models make of it
    task : Task, what the talk is about, if that is known
    familiar : Familiar, what the student's memories know of it; None where there are none
    """
    window, familiar = known[-SURPRISE_WINDOW:], familiar or Familiar()
    vector = _vector(message)
    parts = _parts(message, window, task)
    error = None if sensed.match is None else surprise.prediction_error(sensed.match, sensed.likely)
    surprising = surprise.combined(surprise.message_surprise(parts), error, sensed.told)
    signal = surprise.signal(surprising, state.signals)
    level = _level(signal, state)
    now = message.at.timestamp()
    # The replies come as fast as they are made: how busy it is, the student says.
    said = [m.at.timestamp() for m in window if m.author is Author.STUDENT]
    rate = features.messages_per_minute([*said, now], now)
    latest = max((m.at.timestamp() for m in window), default=now)
    distance = min(features.distance(_matrix(window, len(vector)), vector), 1.0 - familiar.likest)
    values = importance.Features(
        mentioned=float(familiar.named or matching.named(doc_of(message), [state.companion.name])),
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
    """The score of a message once a mind has said whether what was expected came true; as it was where none has."""
    if match is None:
        return scored
    error = surprise.prediction_error(match)
    surprising = surprise.combined(surprise.message_surprise(scored.parts), error, scored.told)
    signal = surprise.signal(surprising, state.signals)
    level = _level(signal, state)
    unusual = () if level is Level.NORMAL else surprise.unusual(scored.parts)
    return replace(scored, match=match, surprise=signal, surprising=surprising, level=level, unusual=unusual)


def _level(signal: float, state: State) -> Level:
    """Level of a signal; of a student of whom little is known none is a paradigm shift by its signal alone."""
    found = surprise.level(signal, surprise.thresholds(state.corrections))
    shaken = found is Level.PARADIGM_SHIFT and state.turns < LITTLE_KNOWN
    return Level.COGNITIVE_DISSONANCE if shaken else found


def _expertise(doc: Doc, topics: Sequence[str], task: Task | None) -> float:
    """Overlap of a message with the companion's expertise or with the concepts in work, whichever is more."""
    in_work = len(doc.stems & task.stems) / max(1, len(doc.stems)) if task is not None else 0.0
    return max(matching.overlap(doc, topics), in_work)


def levelled(scored: Score, told: HeadScores | None, turns: int, *, shaken: bool) -> Score:
    """Return the score of a message with the level that goes with how much it tells (spec 5).

    Parameters
    ----------
    scored : Score
    told : answers of the encoder's heads to the message; None where it surely tells nothing
    turns : of the student before it
    shaken : whether it takes back what was believed
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
    """The score of a message that says something grave: at least cognitive dissonance, whatever the signal (spec 5)."""
    shaken = scored.level in (Level.COGNITIVE_DISSONANCE, Level.PARADIGM_SHIFT)
    return scored if shaken else replace(scored, level=Level.COGNITIVE_DISSONANCE)


def recall(
    message: Message,
    unlocked: Unlocked,
    found: Remembered,
    settings: Settings,
) -> Remembered:
    """Recall what fits a message, within the token budget of a turn.

    Parameters
    ----------
    message : Message, with embedding
    unlocked : Unlocked
    found : memories and facts that fit, best first, the ledger entries that surface, the standing profile; what was
        said in turns still in sight is left out
    settings : Settings
    """
    pairs = exchanges(unlocked.messages)
    messages = [message for message, _ in pairs]
    said = messages[:-IN_SIGHT]
    vector = _vector(message)
    first = unlocked.state.turns - len(unlocked.turn_ids) + 1
    similarities = (_matrix(said, len(vector)) @ vector).tolist()
    fitting = [
        RecalledTurn(first + i, m.text, pairs[i][1].text, similarity)
        for i, (m, similarity) in enumerate(zip(said, similarities, strict=True))
        if similarity >= SIMILAR
    ]
    formed = {ref for each in found.memories if each.memory.role not in OF_A_SITTING for ref in each.memory.source_refs}
    fresh = [t for t in fitting if unlocked.turn_ids[t.seq - first] not in formed]
    best = sorted(fresh, key=lambda t: -t.similarity)[:TURNS_RECALLED]
    latest = zip(unlocked.turn_ids[-IN_SIGHT:], messages[-IN_SIGHT:], strict=False)
    in_sight = {turn_id: m.text for turn_id, m in latest}
    return shown(replace(found, turns=tuple(best)), in_sight, CONTEXT_TOKENS)


def exchanges(messages: Sequence[Message]) -> list[tuple[Message, Message]]:
    """The student's messages of a talk, each with the reply to it; what opened the talk is no reply."""
    return [(said, reply) for said, reply in pairwise(messages) if said.author is Author.STUDENT]


def said_before(messages: Sequence[Message], at: datetime) -> tuple[str, ...]:
    """The student's latest messages of the sitting that goes on at a moment, oldest first."""
    said: list[str] = []
    for message in reversed(messages):
        if (at - message.at).total_seconds() >= features.SEGMENT_GAP:
            break
        if message.author is Author.STUDENT:
            said.append(message.text)
            at = message.at
    return tuple(said[:IN_TALK][::-1])


def latest_turns(messages: Sequence[Message], most: int) -> tuple[Message, ...]:
    """The end of a talk: so many of the student's messages, with what stood around them."""
    asked = [i for i, m in enumerate(messages) if m.author is Author.STUDENT]
    return tuple(messages if len(asked) <= most else messages[asked[-most] :])


def boost(memory_id: str, gravity: float) -> Boost:
    """The use of a memory that has some gravity now (spec 9)."""
    return Boost(memory_id, boosted(gravity))


def mismatch(
    state: State, message: Message, asked: str, talk: Sequence[str], name: str | None = None
) -> Mismatch | None:
    """An expectation and what was said, with what a lesson may rest on;"""
    if state.prediction is None:
        return None
    before = talk[-1] if talk else ""
    return Mismatch(state.prediction.text, message.text, asked, message.at, before, name, message.reading)


@dataclass(frozen=True)
class TurnThought:
    """Everything that was found out about a turn, before it becomes what is written.

    question : one that waited, and that the reply asks
    passes : how often formation reads the message; not at all where it tells nothing
    starts : whether another matter begins with it, as `graphmem.text.topic_boundaries` judges
    own_matter : whether it is work, or tells of the student: other messages only react to what was said
    talk : the student's messages before it that are in sight, oldest first
    danger : that the message tells of, with the concern it raises
    false_alarm : it says again what was taken back as a concern
    may_answer : the reply before it raised a doubt
    task, opener : what the talk is about, and what the tutor said before the message and nothing else held
    used : the memories that the app's own reply was built on
    noticed : a doubt that the message itself raises
    judged : whoever replied can tell whether it was right: a tutor or a language model, not the offline mind
    """

    student_id: str
    turn_id: str
    message: Message
    state: State
    score: Score
    asked: str
    recalled: Remembered
    answer: Answer[Response]
    replied_by: str
    question: Question | None = None
    passes: int = 1
    starts: bool = False
    own_matter: bool = True
    talk: tuple[str, ...] = ()
    danger: Danger | None = None
    raised: Raised | None = None
    false_alarm: bool = False
    may_answer: bool = False
    task: Task | None = None
    opener: Message | None = None
    used: tuple[Boost, ...] = ()
    noticed: Uncertainty | None = None
    judged: bool = True

    @property
    def own_level(self) -> Level | None:
        """Level that the message has without the danger it tells of; None where it tells of none."""
        return None if self.raised is None else self.raised.raised.level


def planned_turn(thought: TurnThought, settings: Settings, now: datetime) -> TurnWrite:
    """Everything the turn will write, as data.

    Parameters
    ----------
    thought : TurnThought
    settings : Settings
    now : datetime
    """
    state, scored, answer = thought.state, thought.score, thought.answer
    seq = state.turns + 1
    # Of what tells nothing at all nothing is remembered, however unexpected it is (spec 7).
    tells = thought.danger is not None or thought.passes > 0
    doc = doc_of(thought.message)
    # What tells nothing as a whole may hold a piece that does, which formation finds.
    answers = thought.may_answer or bool(retractions(doc.text) or told_clauses(doc))
    answers = answers or tells_attribute(doc) or answers_question(doc, thought.asked)
    surprising = _surprise_jobs(thought, seq) if tells else ()
    forms = tells or answers or not is_idle(thought.message)
    jobs = (*(_form_jobs(thought, seq, tells=tells or answers) if forms else ()), *surprising)
    outcome = _outcome(thought, jobs, now)
    doubts = tuple(raised(each.doubt, thought.message.at) for each in thought.recalled.weave)
    passed_over = REASSURED_BY if any(doubt.surfaced_count >= MOST_RAISED for doubt in doubts) else 0.0
    return TurnWrite(
        text=thought.message.text,
        replied_by=thought.replied_by,
        outcome=outcome,
        prediction=answer.value.prediction,
        facts=state.facts,
        oldest_turn=seq - WORKING_MEMORY + 1,
        oldest_fact=state.facts - settings.facts_kept + 1,
        now=now,
        jobs=jobs,
        boosts=_boosts(thought),
        signals=(*state.signals, scored.surprising)[-SIGNALS:],
        episode=bool(surprising),
        question=thought.question,
        raised=thought.raised,
        doubts=doubts,
        noticed=thought.noticed,
        tolerance=shifted_tolerance(state.companion.tolerance, passed_over),
        task="" if thought.task is None else thought.task.text,
        opener=None if thought.opener is None else thought.opener.text,
    )


def _outcome(thought: TurnThought, jobs: Sequence[NewJob], now: datetime) -> TurnOutcome:
    """What the turn answers."""
    scored, answer = thought.score, thought.answer
    return TurnOutcome(
        turn_id=thought.turn_id,
        seq=thought.state.turns + 1,
        at=thought.message.at.astimezone(UTC),
        reply=answer.value.reply.text,
        degraded=answer.degraded,
        match=scored.match,
        matched=scored.matched,
        parrot_match=scored.parrot,
        fact=None,
        surprise=scored.surprise,
        level=scored.level,
        importance=scored.importance,
        threshold=scored.threshold,
        attention=scored.attention,
        recalled=tuple(RecalledId(r.memory.id, r.weight, r.gravity, r.why) for r in thought.recalled.memories),
        ledger=tuple(entry.id for entry in thought.recalled.ledger),
        recalled_facts=thought.recalled.facts,
        recalled_turns=thought.recalled.turns,
        prediction=answer.value.prediction.text,
        needed_info=answer.value.prediction.needed_info,
        jobs=tuple(Job(job.id, job.kind, thought.student_id, JobState.WAITING, 0, now, now) for job in jobs),
        concern=None if thought.raised is None else thought.raised.raised.concern,
        usage=answer.usage,
        weave=tuple(each.doubt.id for each in thought.recalled.weave),
    )


def _boosts(thought: TurnThought) -> tuple[Boost, ...]:
    """Each memory that the reply rests on, as far as the mind says, else each that the prompt showed, once."""
    used = thought.answer.value.used
    told = (*thought.recalled.memories, *thought.recalled.repeated)
    shown_ones = [r for r in told if used is None or r.memory.id in used]
    recalled = (boost(r.memory.id, r.gravity) for r in shown_ones)
    return tuple({each.memory_id: each for each in (*recalled, *thought.used)}.values())


def grown(unlocked: Unlocked, version: int, thought: TurnThought, write: TurnWrite, settings: Settings) -> Unlocked:
    """Cached state after a turn: one turn more, the oldest beyond working memory dropped."""
    asked = write.question
    state = replace(
        thought.state,
        version=version,
        turns=write.outcome.seq,
        facts=write.facts,
        prediction=write.prediction,
        signals=write.signals,
        episode_turn=write.outcome.seq if write.episode else thought.state.episode_turn,
        questions=tuple(q for q in thought.state.questions if asked is None or q.id != asked.id),
        asked_turn=thought.state.asked_turn if asked is None else write.outcome.seq,
    )
    most = WORKING_MEMORY
    opener = () if thought.opener is None else (annotated(thought.opener),)
    messages = (*unlocked.messages, *opener, thought.message, annotated(thought.answer.value.reply))
    return replace(
        unlocked,
        state=state,
        messages=latest_turns(messages, most),
        turn_ids=(*unlocked.turn_ids, thought.turn_id)[-most:],
        task=thought.task,
    )


def annotated(message: Message) -> Message:
    """The same message with the Doc that later turns read it by."""
    return message if message.doc is not None else replace(message, doc=doc_of(message))


def expected_in_session(prediction: Prediction | None, known: Sequence[Message]) -> Prediction | None:
    """What was foreseen of a message; nothing of the first one of a session, which answers no prediction (spec 4)."""
    foreseen = prediction is not None and bool(prediction.text)
    return prediction if foreseen and any(m.author is Author.STUDENT for m in known) else None


def _parts(message: Message, window: Sequence[Message], task: Task | None) -> surprise.MessageParts:
    """The parts of a message's surprise."""
    own = [m for m in window if m.author == message.author]
    times = [m.at.timestamp() for m in own]
    history = surprise.History(
        vectors=_matrix(window, len(_vector(message))),
        gaps=[max(0.0, b - a) for a, b in pairwise(times)],
        authors=[m.author for m in window],
        lengths=[len(m.text) for m in own],
        task=None if task is None else task.embedding,
    )
    gap = max(0.0, message.at.timestamp() - times[-1]) if times else 0.0
    return surprise.message_parts(history, _vector(message), gap, message.author, len(message.text))


def is_idle(message: Message) -> bool:
    """Return whether a message that tells nothing surely only greets, thanks, takes leave or reacts."""
    reading = message.reading
    if not isinstance(reading, MessageAnalysis):
        return False
    kind = reading.scores.likely("act")
    chance = reading.scores.chance("act", kind)
    return kind in IDLE_TALK and chance >= SURELY_IDLE


def _form_jobs(thought: TurnThought, seq: int, *, tells: bool) -> tuple[NewJob, ...]:
    """The job by which a message is remembered: what there is to keep of it, a mind decides."""
    message, scored = thought.message, thought.score
    found = mismatch(thought.state, message, thought.asked, thought.talk)
    violated = scored.matched is False and found is not None and thought.danger is None
    work = FormJob(
        turn_id=thought.turn_id,
        text=message.text,
        before=thought.asked,
        at=message.at,
        importance=scored.importance,
        surprise=scored.surprise,
        level=scored.level,
        activity=scored.rate,
        features=tuple(a.value for a in scored.attention),
        danger=thought.danger,
        own_level=thought.own_level,
        false_alarm=thought.false_alarm,
        task="" if thought.task is None else thought.task.text,
        reply=thought.answer.value.reply.text if thought.judged else "",
        tells=tells,
        talk=tuple(each[-TALK_CHARACTERS:] for each in thought.talk[-TALK_BEFORE:]),
        asks=thought.recalled.asked_for is not AskedFor.OTHER,
        predicted=found.predicted if found is not None and violated else None,
    )
    return (NewJob(f"form-{seq}", work, seq),)


def begins(thought: TurnThought) -> bool:
    """True if an episode begins with a message: always with a grave surprise, else where another matter does.

    Another matter has to be the student's own, no question for what is remembered, and to have a name, and some turns
    have to lie since the last one; a boundary is one
    where what is said has little to do with what was said before.

    Source: spec 5 (episodes).
    """
    level, starts = thought.score.level, thought.starts
    if level in (Level.COGNITIVE_DISSONANCE, Level.PARADIGM_SHIFT):
        return True
    doc = doc_of(thought.message)
    asks_of_memory = thought.recalled.asked_for is not AskedFor.OTHER
    if (level is Level.NORMAL and not starts) or not thought.own_matter or asks_of_memory:
        return False
    since = thought.state.turns + 1 - thought.state.episode_turn if thought.state.episode_turn else EPISODE_EVERY
    other = starts or "topic" in thought.score.unusual
    return other and since >= (EPISODE_AFTER if starts else EPISODE_EVERY) and bool(heading(doc))


def _surprise_jobs(thought: TurnThought, seq: int) -> tuple[NewJob, ...]:
    """A surprise is responded to; where only the matter changes, a new episode begins and that is all."""
    message, scored, expected = thought.message, thought.score, thought.state.prediction
    if not begins(thought):
        return ()
    work = SurpriseJob(
        turn_id=thought.turn_id,
        at=message.at,
        level=scored.level,
        signal=scored.surprise,
        match=scored.match,
        importance=scored.importance,
        predicted=None if expected is None else expected.text,
        before=thought.asked,
        actual=message.text,
        talk=thought.talk,
        unusual=scored.unusual,
        danger=thought.danger,
        own_level=thought.own_level,
        task="" if thought.task is None else thought.task.text,
    )
    return (NewJob(f"surprise-{seq}", work, seq),)


def next_question(
    state: State, scored: Score, text: str, *, tells: bool = False, works: bool = False
) -> Question | None:
    """The question that has waited longest, where this is a moment to ask it.

    Not while something surprises, not where the student asks, tells of themselves, takes a step in an exercise or takes
    leave, and not in three turns running.

    Parameters
    ----------
    state : State
    scored : Score of the message
    text : str, the message
    tells : it tells something of the student, which is answered first
    works : the talk is about an exercise

    Source: spec 5 (questions queued and asked by a later turn).
    """
    act = act_of(Doc(text))
    busy = tells or "?" in text or act is Act.GOODBYE or (works and act is Act.STEP)
    calm = scored.level is Level.NORMAL and not busy
    rested = state.asked_turn == 0 or state.turns + 1 - state.asked_turn > ASKED_EVERY
    return state.questions[0] if state.questions and calm and rested else None


def _vector(of: Message | Prediction) -> Vector:
    if of.embedding is None:
        raise ValueError("an embedding is missing")
    return of.embedding


def _matrix(messages: Sequence[Message], dimension: int) -> Matrix:
    rows = [m.embedding for m in messages if m.embedding is not None]
    return np.stack(rows) if rows else np.zeros((0, dimension), dtype=np.float32)
