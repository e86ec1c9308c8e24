"""Evidence recall end to end: talks observed through the API, remembered, and asked about (spec 10, Measured by).

A gold turn is found when the recalled memories that name it as their source together hold at least half of its
content words. On a file of MathDial the question is a teacher's description of a misconception, and the session in
which the student had it is to be found: by its best recalled lesson, and in `any_session` by its best memory of
whatever role. Beside it, in the same run, plain search over the turns (or whole sessions) themselves.
"""

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from statistics import fmean, median
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphmem.bench import Figures
from graphmem.bench.harness import Talker, embedding, fresh_student, own_database, served, show_figures
from graphmem.bench.scores import interval
from graphmem.bench.talks import (
    PLAIN_WORD,
    UNDATED,
    EvidenceQuestion,
    RememberedSource,
    Talk,
    read_rows,
    read_talks,
    share_found,
)
from graphmem.errors import InvalidInput
from graphmem.model import Matrix, Vector
from graphmem.progress import tracked
from graphmem.samples.dialogues import Dialogue, dialogue_turns, load_dialogues
from graphmem.settings import Settings

Embed = Callable[[Sequence[str]], Matrix]
Ranks = list[int]
"""Places of texts, best first."""
SalienceScores = NDArray[np.float64]
"""What each turn is worth, of shape (turns,); -inf: nothing is remembered of it."""
CUTS = (5, 10, 20, 50)
WITHIN = (1, 5)
TOKENS = 1000
METHODS = ("cosine", "bm25", "fusion")
SHARES = (10, 20, 30, 50)
BASELINES_AT, SALIENCE_SEEDS = 30, 200
FUSION_K = 60
ENVIRONMENT = {"GRAPHMEM_SESSION_MINUTES": "600", "GRAPHMEM_MEMORIES_LIMIT": "1000000"}
"""Nothing is compressed meanwhile."""
DESCRIPTION = "teacher_described_confusion"
RECALL_QUERY = """
query Recall($student: ID!, $question: String!, $limit: Int!) {
  student(id: $student) { recall(query: $question, limit: $limit) { sourceRefs memory { id content quote } } }
}"""
CONTEXT = """
query Context($student: ID!, $question: String!, $budget: Int!) {
  student(id: $student) {
    context(query: $question, tokenBudget: $budget) { tokens memories { sourceRefs memory { content quote } } }
  }
}"""
LESSON_TURN = """
mutation Turn($student: ID!, $turn: ID!, $text: String!, $at: DateTime!, $reply: String, $opener: String) {
  handleTurn(studentId: $student, turnId: $turn, text: $text, at: $at, reply: $reply, opener: $opener) { turnId }
}"""
LESSON_RECALL = """
query Recall($student: ID!, $question: String!, $limit: Int!) {
  student(id: $student) {
    lessons: recall(query: $question, limit: $limit, roles: [LESSON]) { weight sourceRefs }
    all: recall(query: $question, limit: $limit) { weight sourceRefs }
  }
}"""


@dataclass(frozen=True)
class PlainSearch:
    """Texts with their embeddings, and plain ways to search them."""

    texts: tuple[str, ...]
    vectors: Matrix

    def cosine(self, vector: Vector) -> Ranks:
        """Rank every text by likeness of meaning."""
        return [int(i) for i in np.argsort(-(self.vectors @ vector), kind="stable")]

    def bm25(self, question: str) -> Ranks:
        """Rank the texts that share a word with a question, by BM25 of SQLite's FTS5, with Porter's stemmer."""
        words = dict.fromkeys(word.lower() for word in PLAIN_WORD.findall(question))
        if not words:
            return []
        with closing(sqlite3.connect(":memory:")) as found:
            found.execute("CREATE VIRTUAL TABLE said USING fts5(text, tokenize='porter unicode61')")
            found.executemany("INSERT INTO said(rowid, text) VALUES (?, ?)", list(enumerate(self.texts)))
            match = " OR ".join(f'"{word}"' for word in words)
            rows = found.execute("SELECT rowid FROM said WHERE said MATCH ? ORDER BY bm25(said), rowid", (match,))
            return [int(rowid) for (rowid,) in rows]

    def ranks(self, question: str, vector: Vector) -> dict[str, Ranks]:
        """Rank by each method, best first."""
        cosine, bm25 = self.cosine(vector), self.bm25(question)
        return {"cosine": cosine, "bm25": bm25, "fusion": fused([cosine, bm25], len(self.texts))}


def fused(rankings: Sequence[Ranks], size: int) -> Ranks:
    """Rank by the sum of 1 / (60 + rank) over the rankings that hold a place.

    Source: Cormack, Clarke and Buettcher 2009, Reciprocal rank fusion outperforms Condorcet.

    Examples
    --------
    >>> fused([[0, 1, 2], [2, 1]], size=3)
    [2, 1, 0]
    """
    scores: NDArray[np.float64] = np.zeros(size)
    for ranking in rankings:
        scores[ranking] += 1.0 / (FUSION_K + 1 + np.arange(len(ranking)))
    return [int(i) for i in np.argsort(-scores, kind="stable")]


@dataclass(frozen=True)
class AskedQuestion:
    """One question: the share of its evidence that was found, by figure, and how long recall took."""

    category: str | None
    shares: dict[str, float]
    seconds: float


def measure_recall(settings: Settings, file: Path | None) -> Figures:
    """Measure evidence recall on a file of LoCoMo, BEAM or QMSum, or sessions found on one of MathDial.

    Parameters
    ----------
    settings : Settings, whose jars are used for a database of the benchmark's own
    file : JSON lines; needed, since no such data ships with graphmem

    Raises
    ------
    InvalidInput    no file, or another format
    """
    if file is None:
        raise InvalidInput("Name a file of LoCoMo, BEAM, QMSum or MathDial: graphmem bench recall FILE.")
    of_lessons = DESCRIPTION in read_rows(file)[0][1]
    talks = [] if of_lessons else read_talks(file)
    with own_database(settings) as own, served(own, **ENVIRONMENT) as port:
        return misconception_figures(own, port, file) if of_lessons else recall_figures(own, port, talks)


def recall_figures(settings: Settings, port: int, talks: Sequence[Talk]) -> Figures:
    """Compute the figures of talks on a served API."""
    asked: list[AskedQuestion] = []
    turns = sum(len(talk.turns) for talk in talks)
    seconds, memories, remembered = 0.0, 0, 0
    with embedding(settings) as embed:
        for talk in talks:
            talker = fresh_student(settings, port, talk.id)
            seconds += observe_talk(talker, talk)
            memories += talker.memory_count()
            refs = {source["ref"] for memory in talker.memories() for source in memory["sources"]}
            remembered += len(refs & {turn.id for turn in talk.turns})
            of_talk = _ask_all(talker, talk, embed)
            talker.caller.close()
            if of_talk:
                show_figures({f"{talk.id} recall@10": fmean(a.shares["recall@10"] for a in of_talk)})
            asked += of_talk
    if not asked:
        raise InvalidInput("There is no question with evidence in this file.")
    return _evidence_figures(asked) | {
        "form_ms": 1000 * seconds / turns,
        "memories_per_turn": memories / turns,
        "turns_remembered": remembered / turns,
        "questions": len(asked),
    }


def observe_talk(talker: Talker, talk: Talk) -> float:
    """Give a talk turn by turn and wait until its memories are formed; return the seconds that took."""
    return talker.observe(
        [
            {"ref": turn.id, "speaker": turn.speaker, "text": turn.text, "kind": "CHAT", "at": turn.at.isoformat()}
            for turn in talk.turns
        ]
    )


def sources(items: Sequence[Mapping[str, Any]]) -> list[RememberedSource]:
    """Return the scored part of recalled memories."""
    return [
        RememberedSource(frozenset(i["sourceRefs"]), f"{i['memory']['content']}\n{i['memory']['quote'] or ''}")
        for i in items
    ]


def recalled(talker: Talker, question: str, limit: int) -> list[dict[str, Any]]:
    """Recall memories for a question, best first."""
    return list(talker.call(RECALL_QUERY, question=question, limit=limit)["recall"])


def context_sources(talker: Talker, question: str) -> list[RememberedSource]:
    """Return the memories of a context of a thousand tokens."""
    return sources(talker.call(CONTEXT, question=question, budget=TOKENS)["context"]["memories"])


def _ask_all(talker: Talker, talk: Talk, embed: Embed) -> list[AskedQuestion]:
    turns = {turn.id: turn for turn in talk.turns}
    lines = tuple(f"{turn.speaker}: {turn.text}" for turn in talk.turns)
    plain = PlainSearch(lines, embed(lines))
    vectors = embed([question.text for question in talk.questions]) if talk.questions else ()
    # The server hangs up on connections that are silent for so long.
    talker.caller.close()
    asked = []
    for question, vector in tracked(list(zip(talk.questions, vectors, strict=True)), f"Asking about {talk.id}"):
        start = perf_counter()
        found = sources(recalled(talker, question.text, max(CUTS)))
        seconds = perf_counter() - start
        shares = {f"recall@{k}": share_found(question, turns, found[:k]) for k in CUTS}
        shares["recall_1000_tokens"] = share_found(question, turns, context_sources(talker, question.text))
        for method, ranks in plain.ranks(question.text, vector).items():
            ids = [talk.turns[place].id for place in ranks[: max(CUTS)]]
            shares |= {f"{method}@{k}": _share_of_ids(question, ids[:k]) for k in CUTS}
        asked.append(AskedQuestion(question.category, shares, seconds))
    return asked


def _share_of_ids(question: EvidenceQuestion, ids: Sequence[str]) -> float:
    return len(set(question.gold) & set(ids)) / len(question.gold)


def _evidence_figures(asked: Sequence[AskedQuestion]) -> Figures:
    keys = [*(f"recall@{k}" for k in CUTS), "recall_1000_tokens", *(f"{m}@{k}" for k in (10, 20, 5) for m in METHODS)]
    figures = {key: fmean(a.shares[key] for a in asked) for key in keys}
    for category in sorted({a.category for a in asked if a.category is not None}):
        figures[f"recall@10_{category}"] = fmean(a.shares["recall@10"] for a in asked if a.category == category)
    at_10 = np.array([a.shares["recall@10"] for a in asked])
    gain = at_10 - np.array([a.shares["fusion@10"] for a in asked])
    seconds = {"question_p50_ms": 1000 * median(a.seconds for a in asked)}
    return figures | interval("recall@10", at_10) | interval("gain@10", gain) | seconds


def misconception_figures(settings: Settings, port: int, file: Path) -> Figures:
    """Compute the figures of a file of MathDial on a served API.

    Raises
    ------
    InvalidInput    a line is not as in MathDial
    """
    ranks: dict[str, list[int]] = {method: [] for method in ("recall", "any", *METHODS)}
    messages, forming, memories, seconds = 0, 0.0, 0, list[float]()
    with embedding(settings) as embed:
        for student, lessons in _described_lessons(file).items():
            talker, start = fresh_student(settings, port, student), perf_counter()
            messages += _play_lessons(talker, [lesson for lesson, _ in lessons])
            talker.await_formed()
            forming += perf_counter() - start
            memories += talker.memory_count()
            seconds += _searched(talker, lessons, embed, ranks)
            talker.caller.close()
            show_figures({"session@1 until here": fmean(rank == 1 for rank in ranks["recall"])})
    plain = {f"{m}_session@{k}": fmean(rank <= k for rank in ranks[m]) for k in WITHIN for m in ("any", *METHODS)}
    return {
        **{f"session@{k}": fmean(rank <= k for rank in ranks["recall"]) for k in WITHIN},
        "mrr": fmean(1 / rank for rank in ranks["recall"]),
        **plain,
        "question_p50_ms": 1000 * median(seconds),
        "turn_ms": 1000 * forming / messages,
        "memories_per_turn": memories / messages,
        "questions": len(seconds),
    }


def _described_lessons(file: Path) -> dict[str, list[tuple[Dialogue, str]]]:
    """Return the dialogues of each student, with the teacher's description of what was misunderstood."""
    described = {}
    for where, row in read_rows(file):
        if not isinstance(row.get(DESCRIPTION), str) or "dialogue_id" not in row:
            raise InvalidInput(f"{where}: dialogue_id, {DESCRIPTION} and turns are needed, as in MathDial.")
        described[row["dialogue_id"]] = row[DESCRIPTION].strip()
    students: dict[str, list[tuple[Dialogue, str]]] = {}
    for dialogue in load_dialogues(file):
        students.setdefault(dialogue.student, []).append((dialogue, described[dialogue.id]))
    return students


def _play_lessons(talker: Talker, lessons: Sequence[Dialogue]) -> int:
    """Send every message of every session, a session a day; return how many there were."""
    count = 0
    for day, dialogue in enumerate(tracked(lessons, f"Sessions of {talker.student}")):
        for number, turn in enumerate(dialogue_turns(dialogue)):
            at: datetime = UNDATED + timedelta(days=day, seconds=30 * number)
            opener = turn.before if number == 0 else None
            given = {"text": turn.text, "at": at.isoformat(), "reply": turn.reply, "opener": opener}
            talker.call(LESSON_TURN, turn=f"{dialogue.id}#{number}", **given)
            count += 1
    return count


def _searched(
    talker: Talker, lessons: Sequence[tuple[Dialogue, str]], embed: Embed, ranks: dict[str, list[int]]
) -> list[float]:
    """Add the rank of each description's session by each method, from 1; return the seconds of each recall."""
    texts = tuple(" ".join(said.text for said in dialogue.messages) for dialogue, _ in lessons)
    plain, ids = PlainSearch(texts, embed(texts)), [dialogue.id for dialogue, _ in lessons]
    talker.caller.close()
    took = []
    asked = [(place, description) for place, (_, description) in enumerate(lessons) if description]
    for place, description in tracked(asked, f"Misconceptions of {talker.student}"):
        start = perf_counter()
        found = talker.call(LESSON_RECALL, question=description, limit=max(CUTS))
        took.append(perf_counter() - start)
        (vector,) = embed([description])
        rankings = plain.ranks(description, vector) | {
            "recall": _by_session(found["lessons"], ids),
            "any": _by_session(found["all"], ids),
        }
        for method, ranking in rankings.items():
            # A session that a method does not find at all is as good as last.
            ranks[method].append(ranking.index(place) + 1 if place in ranking else len(lessons))
    return took


def _by_session(found: Sequence[Mapping[str, Any]], ids: Sequence[str]) -> Ranks:
    """Return places of the sessions that recalled memories came from, by each one's best memory."""
    scores: dict[str, float] = {}
    for item in found:
        for session in {ref.partition("#")[0] for ref in item["sourceRefs"]}:
            scores[session] = max(scores.get(session, 0.0), item["weight"])
    return [place for place in sorted(range(len(ids)), key=lambda p: -scores.get(ids[p], 0.0)) if ids[place] in scores]


def measure_keep(settings: Settings, file: Path | None) -> Figures:
    """Measure the gold evidence among the most salient turns of LoCoMo, beside chance and novelty (spec 6).

    Shares are of all turns of a conversation. A turn counts with the salience of its most salient memory; a turn
    without memories is dropped first, so that to store little is no advantage.

    Raises
    ------
    InvalidInput    no file, another format, or no question with evidence
    """
    if file is None:
        raise InvalidInput("Name a file of LoCoMo: graphmem bench keep FILE.")
    talks = read_talks(file)
    with own_database(settings) as own, served(own, **ENVIRONMENT) as port:
        return salience_figures(own, port, talks)


def salience_figures(settings: Settings, port: int, talks: Sequence[Talk]) -> Figures:
    """Compute the figures of talks on a served API, each a mean over the talks."""
    talks = [talk for talk in talks if talk.questions]
    if not talks:
        raise InvalidInput("There is no question with evidence in this file.")
    found = []
    with embedding(settings) as embed:
        for talk in talks:
            figures = _kept_of_talk(settings, port, talk, embed)
            found.append(figures)
            show_figures({f"{talk.id} kept@30": figures["kept@30"]})
    return {key: fmean(figures[key] for figures in found) for key in found[0]}


def _kept_of_talk(settings: Settings, port: int, talk: Talk, embed: Embed) -> Figures:
    gold = {turn_id for question in talk.questions for turn_id in question.gold}
    is_gold = np.array([turn.id in gold for turn in talk.turns])
    talker = fresh_student(settings, port, talk.id)
    observe_talk(talker, talk)
    salience = _turn_salience(talker, talk)
    talker.caller.close()
    vectors = embed([turn.text for turn in talk.turns])
    novelty = 1.0 - np.tril(vectors @ vectors.T, k=-1).max(axis=1).astype(np.float64)
    chance = [np.random.default_rng(seed).random(len(talk.turns)) for seed in range(SALIENCE_SEEDS)]
    return {
        **{f"kept@{share}": evidence_kept(salience, is_gold, share) for share in SHARES},
        f"random@{BASELINES_AT}": fmean(evidence_kept(each, is_gold, BASELINES_AT) for each in chance),
        f"novelty@{BASELINES_AT}": evidence_kept(novelty, is_gold, BASELINES_AT),
        "gold_remembered": float(np.isfinite(salience[is_gold]).mean()),
    }


def evidence_kept(scores: SalienceScores, is_gold: NDArray[np.bool_], share: int) -> float:
    """Compute the share of the gold turns among the best `share` per cent of all turns, of equals the earlier first.

    Parameters
    ----------
    scores : float array of shape (n,); -inf is never kept
    is_gold : bool array of shape (n,), at least one of them true
    share : int, per cent

    Examples
    --------
    >>> evidence_kept(np.array([0.9, 0.1, 0.5, -np.inf]), np.array([True, True, False, False]), share=50)
    0.5
    """
    best = np.argsort(-scores, kind="stable")[: round(len(scores) * share / 100)]
    return float(is_gold[best[np.isfinite(scores[best])]].sum() / is_gold.sum())


def _turn_salience(talker: Talker, talk: Talk) -> SalienceScores:
    place = {turn.id: i for i, turn in enumerate(talk.turns)}
    scores = np.full(len(talk.turns), -np.inf)
    for memory in talker.memories():
        for ref in {source["ref"] for source in memory["sources"]} & place.keys():
            scores[place[ref]] = max(scores[place[ref]], memory["salience"])
    return scores
