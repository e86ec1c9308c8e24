"""Ablation experiment on predicting a student's messages: with and without facts and memories (spec 4)."""

import asyncio
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from statistics import fmean
from uuid import uuid4

from graphmem.app import Graphmem
from graphmem.bench.harness import learner
from graphmem.bench.recorded import match_baselines, recorded_turn
from graphmem.bench.scores import chi_squared, mcnemar
from graphmem.errors import InvalidInput
from graphmem.model import TurnOutcome, Who
from graphmem.samples.dialogues import Dialogue, dialogue_turns

SIGNIFICANT = 0.05
"""p below which a difference is more than chance (spec 4)."""
WANTED = 0.2
"""Relative improvement of the match rate that is wanted (spec 4)."""
ENOUGH = 60
"""Conversations an arm that the experiment needs to count (spec 4)."""
CONVERSATION_GAP = timedelta(seconds=40)
"""Time between two messages of a recording, which does not tell."""
STUDENTS_SIDE_BY_SIDE = 4
"""Students who talk side by side: most of their time is waiting for database or model."""

Advance = Callable[[], None]
"""Called whenever an arm has done with a conversation."""


@dataclass(frozen=True)
class ExperimentTurn:
    """Record of one turn of the experiment.

    match : of what was expected of this message, 0..1; None where nothing was
    matched : whether the service counted it as matched; None where nothing was expected
    facts, memories : recalled for the next expectation
    learned : whether a fact was
    degraded : whether the offline mind stood in for a language model
    """

    match: float | None
    matched: bool | None
    facts: int
    learned: bool
    degraded: bool
    memories: int = 0


@dataclass(frozen=True)
class Pair:
    """A conversation as it went in both arms, turn by turn; both have the same turns."""

    dialogue_id: str
    with_facts: tuple[ExperimentTurn, ...]
    without: tuple[ExperimentTurn, ...]

    @property
    def counted(self) -> tuple[int, int, int, int]:
        """Matched and expected turns with facts, and without."""
        return *_hits(self.with_facts), *_hits(self.without)


@dataclass(frozen=True)
class Findings:
    """Results of the experiment; figures are named `_with` and `_without` what is remembered.

    conversations, turns : of each arm; a turn counts where a message had been expected
    improvement : of the match rate, relative to the one without; None where that is 0
    chi_squared, p : Pearson's test of both rates, one degree of freedom, no Yates' correction, as if turns were
        independent
    mcnemar_p : exact test of the turns that matched in one arm alone, since both arms have the same turns
    with_facts_recalled, with_memories_recalled : turns of the first arm after which there were such for the next
        expectation
    tested : something was foreseen otherwise with what is remembered; else its use was not tested
    degraded : turns of both arms in which a language model failed
    rate_parrot, rate_random : of the same messages, what would match of predictions that repeat the student's previous
        message, and of messages of other dialogues; None where that was not measured
    """

    conversations: int
    turns: int
    matched_with: int
    matched_without: int
    rate_with: float
    rate_without: float
    mean_match_with: float
    mean_match_without: float
    difference: float
    improvement: float | None
    chi_squared: float
    p: float
    only_with: int
    only_without: int
    mcnemar_p: float
    facts_learned: int
    with_facts_recalled: int
    with_memories_recalled: int
    degraded: int
    tested: bool
    enough: bool
    significant: bool
    improved: bool
    rate_parrot: float | None = None
    rate_random: float | None = None

    @property
    def reached(self) -> bool:
        """True if what is remembered improved the match rate by the target, and significantly."""
        return self.significant and self.improved


def chosen(dialogues: Sequence[Dialogue], conversations: int | None, seed: int) -> dict[str, list[Dialogue]]:
    """The dialogues of each student that take part, in the order of the file.

    Parameters
    ----------
    dialogues : in the order in which they were held; a repeated id counts once
    conversations : int >= 1, how many take part; whole histories of students drawn with `seed`, the last one cut
        short; None means all, and so no chance
    seed : int

    Returns
    -------
    dict of student to dialogues; students with a single message have nothing to be expected of, and are left out

    Raises
    ------
    InvalidInput    there is no student with two messages, or fewer conversations than one are asked for

    Examples
    --------
    >>> from graphmem.samples import sample_dialogues
    >>> by_student = chosen(sample_dialogues(), 3, seed=1)
    >>> sum(map(len, by_student.values()))
    3
    """
    if conversations is not None and conversations < 1:
        raise InvalidInput("At least one conversation is needed: spec asks for 60 or more.")
    by_student: dict[str, dict[str, Dialogue]] = {}
    for dialogue in dialogues:
        by_student.setdefault(dialogue.student, {}).setdefault(dialogue.id, dialogue)
    able = {
        s: list(held.values())
        for s, held in by_student.items()
        if sum(len(dialogue_turns(d)) for d in held.values()) > 1
    }
    if not able:
        raise InvalidInput("No student of this file says two things, so nothing can be expected of anybody.")
    if conversations is None:
        return able
    drawn = random.Random(seed).sample(sorted(able), len(able))
    kept: dict[str, list[Dialogue]] = {}
    for student in drawn:
        kept[student] = able[student][:conversations]
        conversations -= len(kept[student])
        if conversations == 0:
            break
    return kept


async def compare(gm: Graphmem, by_student: dict[str, list[Dialogue]], advance: Advance = lambda: None) -> list[Pair]:
    """Put every student's dialogues through `handle_turn` twice: once with facts and memories, once without.

    Parameters
    ----------
    gm : Graphmem; its mind answers, and the students are enrolled in its database at an institution of their own
    by_student : dialogues of each student, in order (`chosen`)
    advance : called after each conversation of each arm

    Returns
    -------
    list of Pair, one a conversation

    Notes
    -----
    Each student is enrolled twice and lives through the same sessions, a day apart, in both arms; the tutor's real
    turns are given as `reply`, and jobs run after each turn, as in the service. Pairing takes what differs between
    conversations out of the comparison, which a split of the students could not.

    The arms are the same code; they differ in two settings, `facts_recalled` and `memories_recalled`, which are 0 in
    the arm without. So facts and memories are formed in both, and recalled in one. Earlier turns of the session and the
    ledger are recalled in both.

    Source: spec 4, 3.
    """
    institution = f"experiment-{uuid4().hex}"
    slots = asyncio.Semaphore(STUDENTS_SIDE_BY_SIDE)

    async def lived(name: str, arm: Graphmem, held: list[Dialogue]) -> list[tuple[ExperimentTurn, ...]]:
        async with slots:
            return await _life(arm, Who(institution, name), held, advance)

    without = replace(gm, settings=gm.settings.model_copy(update={"facts_recalled": 0, "memories_recalled": 0}))
    arms = {"with": gm, "without": without}
    lives = await asyncio.gather(
        *(lived(f"{name}-{i}", arm, held) for i, held in enumerate(by_student.values()) for name, arm in arms.items())
    )
    dialogues = [dialogue for held in by_student.values() for dialogue in held]
    replies_with = [replies for life in lives[::2] for replies in life]
    replies_without = [replies for life in lives[1::2] for replies in life]
    both = zip(dialogues, replies_with, replies_without, strict=True)
    return [Pair(dialogue.id, a, b) for dialogue, a, b in both]


def findings(pairs: Sequence[Pair]) -> Findings:
    """Compute the results of the experiment from pairs of conversations.

    Parameters
    ----------
    pairs : as `compare` returns them; conversations in which nothing was expected are left out

    Raises
    ------
    InvalidInput    nothing was expected in any conversation

    Source: spec 4.

    Examples
    --------
    >>> hit, miss = ExperimentTurn(0.9, True, 1, False, False), ExperimentTurn(0.2, False, 0, True, False)
    >>> found = findings([Pair("a", (hit, hit), (hit, miss)), Pair("b", (hit, miss), (miss, miss))])
    >>> found.rate_with, found.rate_without, found.improvement, found.only_with, found.significant
    (0.75, 0.25, 2.0, 2, False)
    """
    pairs = [pair for pair in pairs if pair.counted[1]]
    if not pairs:
        raise InvalidInput("Nothing was expected in any conversation, so there is nothing to compare.")
    counts = [pair.counted for pair in pairs]
    hits_with, expected, hits_without, _ = (sum(column) for column in zip(*counts, strict=True))
    rate_with, rate_without = hits_with / expected, hits_without / expected
    improvement = None if hits_without == 0 else rate_with / rate_without - 1
    statistic, p = chi_squared(hits_with, expected, hits_without, expected)
    replies = [both for pair in pairs for both in zip(pair.with_facts, pair.without, strict=True)]
    only_with = sum(a.matched is True and b.matched is False for a, b in replies)
    only_without = sum(b.matched is True and a.matched is False for a, b in replies)
    better = hits_with > 0 if improvement is None else improvement >= WANTED
    return Findings(
        conversations=len(pairs),
        turns=expected,
        matched_with=hits_with,
        matched_without=hits_without,
        rate_with=rate_with,
        rate_without=rate_without,
        mean_match_with=fmean(a.match for a, _ in replies if a.match is not None),
        mean_match_without=fmean(b.match for _, b in replies if b.match is not None),
        difference=rate_with - rate_without,
        improvement=improvement,
        chi_squared=statistic,
        p=p,
        only_with=only_with,
        only_without=only_without,
        mcnemar_p=mcnemar(only_with, only_without),
        facts_learned=sum(a.learned for a, _ in replies),
        with_facts_recalled=sum(a.facts > 0 for a, _ in replies),
        with_memories_recalled=sum(a.memories > 0 for a, _ in replies),
        tested=any(a.match != b.match for a, b in replies),
        degraded=sum(each.degraded for both in replies for each in both),
        enough=len(pairs) >= ENOUGH,
        significant=p < SIGNIFICANT,
        improved=better,
    )


async def with_baselines(gm: Graphmem, found: Findings, by_student: dict[str, list[Dialogue]], seed: int) -> Findings:
    """The findings with the match rates of predictions that know nothing, on the same messages.

    Parameters
    ----------
    gm : Graphmem
    found : Findings
    by_student : dialogues of each student, as they were compared
    seed : int, of the messages drawn from other dialogues

    Source: spec 4.
    """
    dialogues = [dialogue for held in by_student.values() for dialogue in held]
    baselines = await match_baselines(gm, dialogues, seed)
    return replace(found, rate_parrot=baselines.parrot, rate_random=baselines.random)


async def _life(gm: Graphmem, who: Who, held: Sequence[Dialogue], advance: Advance) -> list[tuple[ExperimentTurn, ...]]:
    """One student of one arm: a session a day, everything formed before the next."""
    student, start = await learner(gm, who.student_id, who.institution), gm.clock()
    life = []
    for day, dialogue in enumerate(held):
        student.clock.now = start + timedelta(days=day)
        await student.begin()
        turns = []
        for i, turn in enumerate(dialogue_turns(dialogue)):
            student.clock.now += CONVERSATION_GAP
            turns.append(_reply(await student.say(recorded_turn(dialogue, i, turn, student.clock.now))))
        life.append(tuple(turns))
        await student.end()
        advance()
    return life


def _reply(outcome: TurnOutcome) -> ExperimentTurn:
    return ExperimentTurn(
        match=outcome.match,
        matched=outcome.matched,
        facts=len(outcome.recalled_facts),
        learned=outcome.fact is not None,
        degraded=outcome.degraded,
        memories=len(outcome.recalled),
    )


def _hits(replies: Sequence[ExperimentTurn]) -> tuple[int, int]:
    expected = [reply.matched for reply in replies if reply.matched is not None]
    return sum(expected), len(expected)
