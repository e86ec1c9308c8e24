"""The experiment on violated expectations: the same talk with what is remembered and without (spec 4)."""

import asyncio
import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import timedelta
from itertools import count
from pathlib import Path
from statistics import fmean
from uuid import uuid4

from graphmem.app import Graphmem
from graphmem.bench import Figures
from graphmem.bench.harness import in_process, learner
from graphmem.bench.scores import chi_squared, mcnemar
from graphmem.bench.talks import held_out, match_baselines, recorded_turn
from graphmem.errors import InvalidInput
from graphmem.model import TurnOutcome, Who
from graphmem.progress import print_line, spoken
from graphmem.samples.dialogues import Dialogue, dialogue_turns, load_dialogues
from graphmem.settings import Settings

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
Outcomes = tuple[TurnOutcome, ...]
"""A conversation, turn by turn."""
BothArms = tuple[Outcomes, Outcomes]
"""A conversation as it went with memory and without; both have the same turns."""


def run_experiment(settings: Settings, file: Path, conversations: int | None, seed: int) -> Figures:
    """Compare the match rates with memory and without, in a throwaway database; figures as of `findings`.

    Parameters
    ----------
    settings : Settings
    file : Path                     dialogues, one JSON object a line
    conversations : int or None     how many an arm, drawn by student; None: all
    seed : int >= 0                 of the draw and of the random messages

    Raises
    ------
    InvalidInput    the file holds no dialogues that can be compared
    """
    dialogues = load_dialogues(file)
    by_student = chosen(dialogues, conversations, seed)
    talks = [dialogue for held in by_student.values() for dialogue in held]
    with spoken(print_line, "talking") as say:
        done = count(1)

        async def compared(gm: Graphmem) -> Figures:
            # Of a measured file nothing may have been learned, also not from what takes no part.
            async with held_out(gm, dialogues) as fair:
                pairs = await compare(fair, by_student, lambda: say(f"conversation {next(done)} of {2 * len(talks)}"))
                rates = await match_baselines(fair, talks, seed)
                return findings(pairs) | {f"rate_{name}": rate for name, rate in rates.items() if rate is not None}

        # Hashing passwords is not tried here, and everything is gone at the end.
        return in_process(settings, compared, argon2_ops=1, argon2_mib=8)


def chosen(dialogues: Sequence[Dialogue], conversations: int | None, seed: int) -> dict[str, list[Dialogue]]:
    """Return the dialogues of each student that take part, in the order of the file.

    Parameters
    ----------
    dialogues : sequence of Dialogue    a dialogue that comes twice counts once
    conversations : int or None         how many; students are drawn with their whole histories; None: all
    seed : int >= 0

    Raises
    ------
    InvalidInput    fewer than one conversation is asked for, or no student says two things
    """
    if conversations is not None and conversations < 1:
        raise InvalidInput("At least one conversation is needed: spec asks for 60 or more.")
    by_student: dict[str, dict[str, Dialogue]] = {}
    for dialogue in dialogues:
        by_student.setdefault(dialogue.student, {}).setdefault(dialogue.id, dialogue)
    able = {
        student: list(held.values())
        for student, held in by_student.items()
        if sum(len(dialogue_turns(dialogue)) for dialogue in held.values()) > 1
    }
    if not able:
        raise InvalidInput("No student of this file says two things, so nothing can be expected of anybody.")
    if conversations is None:
        return able
    kept: dict[str, list[Dialogue]] = {}
    for student in random.Random(seed).sample(sorted(able), len(able)):
        kept[student] = able[student][:conversations]
        conversations -= len(kept[student])
        if conversations == 0:
            break
    return kept


async def compare(
    gm: Graphmem, by_student: dict[str, list[Dialogue]], advance: Callable[[], object] = lambda: None
) -> list[BothArms]:
    """Put every student's dialogues through `handle_turn` twice: with facts and memories recalled, and without.

    Parameters
    ----------
    gm : Graphmem
    by_student : dict       dialogues of each student, in their order
    advance : callable      called whenever an arm has done with a conversation
    """
    institution = f"experiment-{uuid4().hex}"
    slots = asyncio.Semaphore(STUDENTS_SIDE_BY_SIDE)
    without = replace(gm, settings=gm.settings.model_copy(update={"facts_recalled": 0, "memories_recalled": 0}))

    async def lived(name: str, arm: Graphmem, held: list[Dialogue]) -> list[Outcomes]:
        async with slots:
            return await _life(arm, Who(institution, name), held, advance)

    lives = await asyncio.gather(
        *(
            lived(f"{name}-{i}", arm, held)
            for i, held in enumerate(by_student.values())
            for name, arm in (("with", gm), ("without", without))
        )
    )
    with_memory, without_it = ([outcomes for life in lives[arm::2] for outcomes in life] for arm in (0, 1))
    return list(zip(with_memory, without_it, strict=True))


async def _life(gm: Graphmem, who: Who, held: Sequence[Dialogue], advance: Callable[[], object]) -> list[Outcomes]:
    """Play one student of one arm: a session a day, everything formed before the next."""
    student, start = await learner(gm, who.student_id, who.institution), gm.clock()
    life = list[Outcomes]()
    for day, dialogue in enumerate(held):
        student.now = start + timedelta(days=day)
        await student.begin()
        outcomes = []
        for i, turn in enumerate(dialogue_turns(dialogue)):
            student.now += CONVERSATION_GAP
            outcomes.append(await student.say(recorded_turn(dialogue, i, turn, student.now)))
        life.append(tuple(outcomes))
        await student.end()
        advance()
    return life


def findings(pairs: Sequence[BothArms]) -> Figures:
    """Compute the results of the experiment from pairs of conversations.

    Returns
    -------
    Of conversations in which something was expected: how many, their expected `turns`, matches, match rates and mean
    chances of both arms (`_with` and `_without` what is remembered), `difference` of the rates and relative
    `improvement` (left out where nothing matched without), chi-squared and McNemar's test, turns with something
    learned or recalled, `degraded` turns; 1 or 0: `tested` (the arms foresaw something else), `enough` conversations,
    `significant`, `improved` as wanted, `reached`, both

    Raises
    ------
    InvalidInput    nothing was expected in any conversation
    """
    pairs = [pair for pair in pairs if any(outcome.matched is not None for outcome in pair[0])]
    if not pairs:
        raise InvalidInput("Nothing was expected in any conversation, so there is nothing to compare.")
    turns = [both for pair in pairs for both in zip(*pair, strict=True)]
    count = sum(a.matched is not None for a, _ in turns)
    came = Counter((a.matched, b.matched) for a, b in turns if a.matched is not None)
    hits, hits_without = (sum(n for both, n in came.items() if both[arm]) for arm in (0, 1))
    rates, only_with, only_without = (hits / count, hits_without / count), came[True, False], came[False, True]
    statistic, p = chi_squared(hits, count, hits_without, count)
    improvement = hits / hits_without - 1 if hits_without else None
    improved = hits > 0 if improvement is None else improvement >= WANTED
    return {
        "conversations": len(pairs),
        "turns": count,
        "matched_with": hits,
        "matched_without": hits_without,
        "rate_with": rates[0],
        "rate_without": rates[1],
        "mean_match_with": fmean(a.match for a, _ in turns if a.match is not None),
        "mean_match_without": fmean(b.match for _, b in turns if b.match is not None),
        "difference": rates[0] - rates[1],
        **({} if improvement is None else {"improvement": improvement}),
        "chi_squared": statistic,
        "p": p,
        "only_with": only_with,
        "only_without": only_without,
        "mcnemar_p": mcnemar(only_with, only_without),
        "facts_learned": sum(a.fact is not None for a, _ in turns),
        "with_facts_recalled": sum(bool(a.recalled_facts) for a, _ in turns),
        "with_memories_recalled": sum(bool(a.recalled) for a, _ in turns),
        "degraded": sum(each.degraded for both in turns for each in both),
        "tested": any(a.match != b.match for a, b in turns),
        "enough": len(pairs) >= ENOUGH,
        "significant": p < SIGNIFICANT,
        "improved": improved,
        "reached": improved and p < SIGNIFICANT,
    }
