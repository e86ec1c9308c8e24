"""Decisions of a turn, as pure functions: its recalled memories, and everything it will write."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import pairwise

from graphmem.flows.findings import MessageFindings, Score, stacked_vectors, vector_of
from graphmem.flows.uncertainty_plan import MOST_RAISED, REASSURED_BY, raised, shifted_tolerance
from graphmem.language.analysis import PASSES, MessageAnalysis, explains_work
from graphmem.maths.gravity import boosted
from graphmem.model import (
    OF_A_SITTING,
    Answer,
    AskedFor,
    Author,
    Danger,
    Job,
    JobState,
    Level,
    Message,
    Question,
    RecalledId,
    RecalledTurn,
    Remembered,
    Response,
    State,
    StoredTurn,
    TurnOutcome,
    Unlocked,
)
from graphmem.search.ranking import shown
from graphmem.settings import Settings
from graphmem.store.jobs import FormJob, Kind, NewJob
from graphmem.store.ledger import Raised
from graphmem.store.turns import WORKING_MEMORY, TurnWrite
from graphmem.text.chunks import answers_question
from graphmem.text.doc import doc_of
from graphmem.text.reminders import last_question
from graphmem.text.revision import retractions, tells_attribute

CONTEXT_TOKENS = 2000
"""Tokens of the memories recalled for a turn."""

TURNS_RECALLED = 5
"""Recent turns recalled for a turn."""

IN_SIGHT = 3
"""Turns so recent that nobody needs to be reminded of them."""
SIGNALS = 100
"""Latest sums of surprise that are kept of a student, uncalibrated."""
EPISODE_AFTER, EPISODE_EVERY = 3, 5
"""Turns between two episodes where another matter begins, and where a message only has little to do with the last."""
ASKED_EVERY = 3
"""Turns between two replies that ask a question of the companion's own."""
IDLE_TALK, SURELY_IDLE = ("greeting", "goodbye", "thanks", "reaction"), 0.9
"""Dialogue acts that form no memory, and the chance from which on a message is one of them."""
APP = "app"
"""Who replied when the app wrote the reply itself; else the name of a mind."""
SIMILAR = 0.35
"""Cosine from which an earlier turn fits a message."""


def recalled_for_turn(message: Message, unlocked: Unlocked, found: Remembered) -> Remembered:
    """Return the memories that match a message, within the token budget of a turn.

    Parameters
    ----------
    message : Message, with embedding
    unlocked : Unlocked
    found : matching memories and facts, best first, the ledger entries that surface, the standing profile; statements
        of turns still visible are left out
    """
    pairs = exchanges(unlocked.messages)
    messages = [message for message, _ in pairs]
    said = messages[:-IN_SIGHT]
    vector = vector_of(message)
    first = unlocked.state.turns - len(unlocked.turn_ids) + 1
    similarities = (stacked_vectors(said, len(vector)) @ vector).tolist()
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
    """Return the student's messages of a talk, each with the reply to it; what opened the talk is no reply."""
    return [(said, reply) for said, reply in pairwise(messages) if said.author is Author.STUDENT]


def latest_turns(messages: Sequence[Message], most: int) -> tuple[Message, ...]:
    """Return the end of a talk: so many of the student's messages, with the messages around them."""
    asked = [i for i, m in enumerate(messages) if m.author is Author.STUDENT]
    return tuple(messages if len(asked) <= most else messages[asked[-most] :])


@dataclass(frozen=True)
class TurnThought:
    """Results of scoring, recall and reply of a turn: the input of its write plan.

    score : of the message, with the reply's verdicts on the expectation and on danger
    question : one that waited, and that the reply asks
    danger : that the message tells of, with the concern it raises
    may_answer : the reply before it raised a doubt
    used : the memories that the app's own reply was built on
    judged : whoever replied can tell whether it was right: a tutor or a language model, not the offline mind
    """

    student_id: str
    turn_id: str
    seen: MessageFindings
    score: Score
    recalled: Remembered
    answer: Answer[Response]
    replied_by: str
    question: Question | None
    danger: Danger | None
    raised: Raised | None
    may_answer: bool
    used: Mapping[str, float]
    judged: bool

    @property
    def own_level(self) -> Level | None:
        """Level that the message has without the danger it tells of; None where it tells of none."""
        return None if self.raised is None else self.raised.raised.level

    @property
    def task(self) -> str:
        """Text of the talk's task; empty where the app gave none."""
        return "" if self.seen.task is None else self.seen.task.text


def planned_turn(thought: TurnThought, settings: Settings, now: datetime) -> TurnWrite:
    """Return everything the turn will write, as data.

    Parameters
    ----------
    thought : TurnThought
    settings : Settings
    now : datetime
    """
    state, scored, answer = thought.seen.state, thought.score, thought.answer
    seq = state.turns + 1
    # A message without any information forms no memory, however unexpected it is (spec 7).
    tells = thought.danger is not None or thought.seen.reading.passes > 0
    doc = doc_of(thought.seen.message)
    # A message scored as empty may hold an informative statement, which formation finds.
    informs = any(each.snr >= PASSES[0] for each in thought.seen.reading.statements)
    answers = thought.may_answer or informs or bool(retractions(doc.text))
    answers = answers or tells_attribute(doc) or answers_question(doc, thought.seen.asked)
    # The tutor's reply may judge a step that tells nothing else.
    answers = answers or (bool(thought.task) and explains_work(thought.seen.reading, has_task=True))
    begun = tells and begins(thought)
    forms = tells or answers or not is_idle(thought.seen.message)
    jobs = (_form_job(thought, seq, tells=tells or answers, begun=begun),) if forms else ()
    outcome = _outcome(thought, jobs, now)
    doubts = tuple(raised(each.doubt, thought.seen.message.at) for each in thought.recalled.weave)
    passed_over = REASSURED_BY if any(doubt.surfaced_count >= MOST_RAISED for doubt in doubts) else 0.0
    return TurnWrite(
        turn=StoredTurn(
            thought.turn_id,
            thought.seen.message.text,
            outcome.at,
            task=thought.task or None,
            opener=None if thought.seen.opener is None else thought.seen.opener.text,
            reply=outcome.reply,
            replied_by=thought.replied_by,
        ),
        outcome=outcome,
        prediction=answer.value.prediction,
        oldest_turn=seq - WORKING_MEMORY + 1,
        now=now,
        jobs=jobs,
        boosts=_boosts(thought),
        signals=(*state.signals, scored.surprising)[-SIGNALS:],
        episode=begun,
        question=thought.question,
        raised=thought.raised,
        doubts=doubts,
        noticed=thought.seen.noticed.doubt,
        tolerance=shifted_tolerance(state.companion.tolerance, passed_over),
    )


def _outcome(thought: TurnThought, jobs: Sequence[NewJob], now: datetime) -> TurnOutcome:
    """Return the outcome of the turn."""
    scored, answer = thought.score, thought.answer
    return TurnOutcome(
        turn_id=thought.turn_id,
        seq=thought.seen.state.turns + 1,
        at=thought.seen.message.at.astimezone(UTC),
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
        jobs=tuple(Job(job.id, Kind.FORM, thought.student_id, JobState.WAITING, 0, now, now) for job in jobs),
        concern=None if thought.raised is None else thought.raised.raised.concern,
        usage=answer.usage,
        weave=tuple(each.doubt.id for each in thought.recalled.weave),
    )


def _boosts(thought: TurnThought) -> dict[str, float]:
    """Return each memory that the reply rests on, as far as the mind says, else each that the prompt showed, once."""
    used = thought.answer.value.used
    told = (*thought.recalled.memories, *thought.recalled.repeated)
    shown_ones = [r for r in told if used is None or r.memory.id in used]
    return {r.memory.id: boosted(r.gravity) for r in shown_ones} | dict(thought.used)


def grown(unlocked: Unlocked, version: int, thought: TurnThought, write: TurnWrite) -> Unlocked:
    """Return the cached state after a turn: one turn more, the oldest beyond working memory dropped."""
    asked = write.question
    state = replace(
        thought.seen.state,
        version=version,
        turns=write.outcome.seq,
        prediction=write.prediction,
        signals=write.signals,
        episode_turn=write.outcome.seq if write.episode else thought.seen.state.episode_turn,
        questions=tuple(q for q in thought.seen.state.questions if asked is None or q.id != asked.id),
        asked_turn=thought.seen.state.asked_turn if asked is None else write.outcome.seq,
    )
    most = WORKING_MEMORY
    opener = () if thought.seen.opener is None else (annotated(thought.seen.opener),)
    messages = (*unlocked.messages, *opener, thought.seen.message, annotated(thought.answer.value.reply))
    return replace(
        unlocked,
        state=state,
        messages=latest_turns(messages, most),
        turn_ids=(*unlocked.turn_ids, thought.turn_id)[-most:],
        task=thought.seen.task,
    )


def annotated(message: Message) -> Message:
    """Return the same message with the Doc that later turns read it by."""
    return message if message.doc is not None else replace(message, doc=doc_of(message))


def is_idle(message: Message) -> bool:
    """Return whether a message without information surely only greets, thanks, takes leave or reacts."""
    reading = message.reading
    if not isinstance(reading, MessageAnalysis):
        return False
    kind = reading.scores.likely("act")
    chance = reading.scores.chance("act", kind)
    return kind in IDLE_TALK and chance >= SURELY_IDLE


def _form_job(thought: TurnThought, seq: int, *, tells: bool, begun: bool) -> NewJob:
    """Return the job that forms memories of a message; a mind decides which."""
    message, scored = thought.seen.message, thought.score
    expected = thought.seen.state.prediction
    violated = scored.matched is False and thought.danger is None
    work = FormJob(
        turn_id=thought.turn_id,
        text=message.text,
        before=_leaned_on(thought.seen.talk),
        at=message.at,
        importance=scored.importance,
        surprise=scored.surprise,
        level=scored.level,
        activity=scored.rate,
        features=tuple(a.value for a in scored.attention),
        danger=thought.danger,
        own_level=thought.own_level,
        false_alarm=thought.seen.false_alarm,
        task=thought.task,
        reply=thought.answer.value.reply.text if thought.judged else "",
        tells=tells,
        asks=thought.recalled.asked_for is not AskedFor.OTHER,
        predicted=expected.text if expected is not None and violated else None,
        begins=begun,
    )
    return NewJob(f"form-{seq}", work, seq)


def _leaned_on(talk: Sequence[Message]) -> str:
    """Return the text that a message may lean on; of an offline reply, which only quotes, the question that it asks."""
    if not talk:
        return ""
    last = talk[-1]
    # Every other reply is embedded, since what follows is compared with it.
    offline = last.author is Author.COMPANION and last.embedding is None
    return last_question(last.text) if offline else last.text


def begins(thought: TurnThought) -> bool:
    """Return whether an episode begins with a message: always with a grave surprise, else where the topic changes.

    A new topic has to be the student's own, no question for memories, and to have a name, and some turns have to lie
    since the last one; a boundary changes the topic where the message has little to do with the messages before.
    While there is a task its lesson groups the memories.

    Source: spec 5 (episodes).
    """
    level, starts = thought.score.level, thought.seen.starts
    if level in (Level.COGNITIVE_DISSONANCE, Level.PARADIGM_SHIFT):
        return True
    doc = doc_of(thought.seen.message)
    asks_of_memory = thought.recalled.asked_for is not AskedFor.OTHER
    if thought.task or (level is Level.NORMAL and not starts) or not thought.seen.own_matter or asks_of_memory:
        return False
    since = (
        thought.seen.state.turns + 1 - thought.seen.state.episode_turn
        if thought.seen.state.episode_turn
        else EPISODE_EVERY
    )
    other = starts or "topic" in thought.score.unusual
    return other and since >= (EPISODE_AFTER if starts else EPISODE_EVERY) and bool(doc.key_phrases(1))


def next_question(
    state: State, scored: Score, text: str, act: str, *, tells: bool = False, works: bool = False
) -> Question | None:
    """Return the question that has waited longest, where this is a moment to ask it.

    Not while something surprises, not where the student asks, tells of themselves, takes a step in an exercise or takes
    leave, and not in three turns running.

    Parameters
    ----------
    state : State
    scored : Score of the message
    text : str, the message
    act : its dialogue act, a label of the head `act`
    tells : it states something about the student, which is answered first
    works : the talk is about an exercise

    Source: spec 5 (questions queued and asked by a later turn).
    """
    busy = tells or "?" in text or act == "goodbye" or (works and act == "work")
    calm = scored.level is Level.NORMAL and not busy
    rested = state.asked_turn == 0 or state.turns + 1 - state.asked_turn > ASKED_EVERY
    return state.questions[0] if state.questions and calm and rested else None
