"""What follows a surprise: read, ask the mind, plan, write; and what somebody says of it afterwards (spec 5)."""

from collections.abc import Awaitable, Sequence
from dataclasses import replace
from typing import TypeVar

from graphmem.app import Graphmem, OpenMemories
from graphmem.errors import Conflict, InvalidInput, MindError, NotFound
from graphmem.flows import surprise_plan as responding
from graphmem.flows.formation import affect_of, said_hash
from graphmem.flows.observation import observe
from graphmem.flows.session_cache import open_memories
from graphmem.flows.surprise_plan import BELIEF, MOST_FACTS, Understood, Worded, episode_content
from graphmem.model import (
    Analysis,
    Answer,
    Correction,
    Fact,
    Level,
    Memory,
    Observation,
    Question,
    Reflection,
    Session,
    SourceKind,
    SurpriseResponse,
    Surprising,
    Usage,
    Vector,
    Verdict,
)
from graphmem.store import surprises
from graphmem.store.jobs import Claimed, SurpriseJob, opened
from graphmem.store.surprises import Responded, Revised, Surprised, Written
from graphmem.text.information import snr
from graphmem.validation import checked_text

AT_ONCE = 4
"""Surprising episodes that are analysed in one question."""
QUESTIONS = 1 + 2 * AT_ONCE
"""Most questions: what they mean, and of each what to ask the student and what the companion takes from it."""
CONFLICTS = 50
"""Times a plan is made again when memories changed meanwhile; each time another worker has got on."""
NOTE_LIMIT = 2_000
"""Characters of what is said of a surprise."""
LEVELS = tuple(Level)

T = TypeVar("T")


async def respond_to_surprises(gm: Graphmem, session: Session, claimed: Sequence[Claimed]) -> int:
    """Respond to some surprises of one student, all analysed in one question; how many were written.

    Parameters
    ----------
    gm : Graphmem, whose mind is asked
    session : Session
    claimed : jobs of kind `surprise`

    Raises
    ------
    MindError       the language model is away; nothing was written
    Conflict        memories kept changing; nothing was written of the job it happened to
    """
    held = await open_memories(gm, session)
    asked = await surprises.list_questions(gm.graph, session)
    jobs = [opened(session, each, SurpriseJob) for each in claimed]
    vectors = await gm.embedder.embed([job.actual for job in jobs])
    surprising = [_surprising(held, job, vector, asked) for job, vector in zip(jobs, vectors, strict=True)]
    answer = await gm.mind.analyse(surprising)
    found, usage, questions = list[Understood](), answer.usage, list[str]()
    for each, job, vector, episode, analysis in zip(claimed, jobs, vectors, surprising, answer.value, strict=True):
        episode = replace(episode, asked=(*episode.asked, *questions))
        analysed = Answer(analysis, usage, answer.degraded)
        understood, usage = await _understood(gm, session, each, job, vector, episode, analysed)
        found.append(understood)
        questions += understood.questions
    # Nothing is asked any more, so that all is written or all waits; what it cost is counted with the first.
    written = 0
    for each, understood in zip(claimed, found, strict=True):
        written += await _written(gm, session, each, understood, usage)
        usage = Usage()
    return written


async def _after(spent: Usage, question: Awaitable[Answer[T]]) -> Answer[T]:
    """A further answer, with what was spent before it: that counts where this one fails, too."""
    try:
        answer = await question
    except MindError as error:
        error.usage = spent + (error.usage or Usage())
        raise
    return replace(answer, usage=spent + answer.usage)


def _surprising(held: OpenMemories, job: SurpriseJob, vector: Vector, asked: Sequence[Question]) -> Surprising:
    return Surprising(
        level=job.level,
        signal=job.signal,
        match=job.match,
        predicted=job.predicted,
        before=job.before,
        actual=job.actual,
        at=job.at,
        talk=job.talk,
        beliefs=responding.beliefs_near(vector, job, held.index),
        most_facts=MOST_FACTS[job.level],
        unusual=job.unusual,
        asked=tuple(question.text for question in asked),
    )


async def _understood(
    gm: Graphmem,
    session: Session,
    claimed: Claimed,
    job: SurpriseJob,
    vector: Vector,
    surprising: Surprising,
    analysed: Answer[Analysis],
) -> tuple[Understood, Usage]:
    """Everything there is to find out about one surprise, and what finding it out cost."""
    analysis, usage, degraded = analysed.value, analysed.usage, analysed.degraded
    questions: tuple[str, ...] = ()
    reflection: Reflection | None = None
    if job.level is Level.PARADIGM_SHIFT:
        asked = await _after(usage, gm.mind.ask(surprising, analysis))
        reflected = await _after(asked.usage, gm.mind.reflect(surprising, analysis))
        questions, reflection, usage = asked.value, reflected.value, reflected.usage
        degraded = degraded or asked.degraded or reflected.degraded
    procedure = None if reflection is None else reflection.procedure
    contents = [episode_content(job.actual), *(u.new for u in analysis.updates), *([procedure] if procedure else [])]
    episode, *updates = await _worded(gm, session, claimed, contents)
    # Two episodes may turn to the same, and are two all the same.
    episode = replace(episode, content_hash=episode.own_hash)
    understood = Understood(
        seq=claimed.id.removeprefix("surprise-"),
        job=job,
        snr=snr(job.actual, novelty=1.0, feeling=0.0),
        analysis=analysis,
        episode=episode,
        updates=tuple(updates[: len(analysis.updates)]),
        vector=vector,
        questions=questions,
        reflection=reflection,
        procedure=updates[-1] if procedure else None,
        inferred_by=gm.offline.name if degraded else gm.mind.name,
        offline=degraded or gm.mind is gm.offline,
    )
    return understood, usage


async def _worded(gm: Graphmem, session: Session, claimed: Claimed, contents: Sequence[str]) -> list[Worded]:
    """Embed, weigh and hash what is to be remembered."""
    vectors = await gm.embedder.embed(contents)
    return [
        Worded(
            content,
            vector,
            affect_of(gm, content, vector)[0],
            said_hash(session, None, content),
            said_hash(session, None, f"{claimed.id} {content}"),
        )
        for content, vector in zip(contents, vectors, strict=True)
    ]


async def _written(gm: Graphmem, session: Session, claimed: Claimed, understood: Understood, usage: Usage) -> bool:
    """Plan and write, again when memories changed meanwhile; False when the job is another worker's by now."""
    for _ in range(CONFLICTS):
        held = await open_memories(gm, session)
        responded = responding.plan(understood, held.index, held.version)
        # A turn under way would find its student changed, so it is let through first.
        async with gm.lock(session):
            kept = gm.settings.facts_kept
            written = await surprises.respond(gm.graph, session, claimed, responded, usage, kept, gm.clock())
            if written is not None and written.current:
                _keep_in_step(gm, session, written, responded)
        if written is None:
            return False
        if written.current:
            await open_memories(gm, session, responded.known + 1)
            return True
        await open_memories(gm, session, held.version + 1)
    raise Conflict("Memories of this student keep changing: the surprise is responded to later.")


def _keep_in_step(gm: Graphmem, session: Session, written: Written, responded: Responded) -> None:
    """Change what this process holds of the talk as the graph was changed, or drop it when it was stale already."""
    key = (session.institution, session.student_id)
    held = gm.unlocked.get(key)
    if held is None or held.state.version != written.version - 1:
        gm.drop(session)
        return
    first = written.facts - len(responded.facts) + 1
    new: list[Fact] = [replace(fact, seq=first + place) for place, fact in enumerate(responded.facts)]
    gm.unlocked[key] = replace(
        held,
        state=replace(
            held.state,
            version=written.version,
            facts=written.facts,
            questions=(*held.state.questions, *responded.questions),
        ),
        facts=(*reversed(new), *held.facts)[: gm.settings.facts_kept],
    )


async def response_of(gm: Graphmem, session: Session, memory_id: str) -> SurpriseResponse | None:
    """What a surprise led to, by the episode that keeps it; None for any other memory."""
    return (await responses_by_episode(gm, session, [memory_id])).get(memory_id)


async def responses_by_episode(gm: Graphmem, session: Session, ids: Sequence[str]) -> dict[str, SurpriseResponse]:
    """What many surprises led to, read at once, by the episodes that keep it; other memories are left out."""
    return await surprises.list_responses(gm.graph, session, ids)


async def list_questions(gm: Graphmem, session: Session) -> list[Question]:
    """Questions that surprises left open and nobody has answered, longest waiting first."""
    return await surprises.list_questions(gm.graph, session)


async def answer_question(gm: Graphmem, session: Session, question_id: str, text: str) -> bool:
    """Take the student's answer to a question: it is remembered as said, and the question is not asked again.

    Raises
    ------
    InvalidInput    the answer will not do
    NotFound        there is no such question
    """
    checked_text("text", text, gm.settings.message_limit)
    questions = {question.id: question for question in await surprises.list_questions(gm.graph, session)}
    question = questions.get(question_id)
    if question is not None:
        said = Observation(SourceKind.CHAT, f"answer:{question_id}", text, gm.clock(), before=question.text)
        await observe(gm, session, [said])
    if not await surprises.answer_question(gm.graph, session, question_id, gm.clock()):
        raise NotFound("There is no such question: read `student.questions`.")
    gm.drop(session)
    return True


async def correct_surprise(gm: Graphmem, session: Session, memory_id: str, verdict: Verdict, note: str) -> Memory:
    """Say that a surprise was important, or was not: its level, flashbulb and belief updates follow; so do thresholds.

    The same verdict again changes nothing.

    Parameters
    ----------
    gm : Graphmem
    session : Session
    memory_id : of an episode, or any memory that was formed of a message of the student, whose episode is meant then
    verdict : Verdict
    note : str, why; at most 2,000 characters

    Returns
    -------
    Memory, as it is now

    Raises
    ------
    InvalidInput    the note will not do, or nothing was ever surprising about the memory
    NotFound        there is no such memory
    Conflict        memories kept changing

    Source: spec 5.
    """
    if note:
        checked_text("note", note, NOTE_LIMIT)
    for _ in range(CONFLICTS):
        held = await open_memories(gm, session)
        memory, found = held.index.get(memory_id), await surprises.find(gm.graph, session, memory_id)
        if memory is None or found is None:
            raise NotFound("There is no such memory.")
        if found.verdict is verdict:
            return memory
        surprising = held.index.get(found.memory_id) or memory
        revised = replace(_revised(surprising, found, verdict), known=held.version, note=note)
        async with gm.lock(session):
            written = await surprises.correct(gm.graph, session, revised, gm.clock())
            gm.drop(session)
        if written is None:
            raise NotFound("There is no such memory.")
        held = await open_memories(gm, session, held.version + 1)
        changed = held.index.get(memory_id)
        if written.current and changed is not None:
            return changed
    raise Conflict("Memories of this student keep changing: say it again.")


def _revised(memory: Memory, found: Surprised, verdict: Verdict) -> Revised:
    """What a verdict changes: one level up with everything that goes with it, or all the way down."""
    if memory.surprise is None or memory.surprise_level is None:
        raise InvalidInput("Nothing was surprising about this memory: name one that was formed of a turn.")
    response = found.response
    had = response.level if response is not None else memory.surprise_level
    up = LEVELS[min(len(LEVELS) - 1, LEVELS.index(had) + 1)]
    again = found.verdict is not None
    revisions = () if response is None else response.revisions
    own = tuple(r.new_id for r in revisions if r.new_id.startswith(BELIEF))
    prior = tuple(r.prior_id for r in revisions if r.prior_id is not None)
    kin = tuple(dict.fromkeys((memory.id, *found.members, *_lit(response))))
    revised = Revised(memory.id, 0, Correction(memory.surprise, had, verdict), Level.NORMAL, "", kin=kin)
    if verdict is Verdict.WAS_NOT_IMPORTANT:
        return replace(revised, faded=kin, closed=own, reopened=prior)
    # What an earlier verdict undid is done again.
    revised = replace(revised, level=up, closed=prior if again else (), reopened=own if again else ())
    return replace(revised, flashbulbs=kin) if up is Level.PARADIGM_SHIFT else revised


def _lit(response: SurpriseResponse | None) -> tuple[str, ...]:
    """Memories that a surprise has made flashbulbs."""
    actions = () if response is None else response.actions
    return tuple(memory_id for action in actions if action.kind == "flashbulb" for memory_id in action.episode_ids)
