"""The experiment on violated expectations: real dialogues on the real database, with facts and without."""

import asyncio
import json
import os
import sys
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any, TypeVar

import pytest

from graphmem.app import Graphmem
from graphmem.bench.talks import held_out
from graphmem.bench.voe import chosen, compare, findings
from graphmem.commands.operation import experiment_command
from graphmem.errors import InvalidInput
from graphmem.model import Answer, Author, MindQuestion, Prediction, Remembered, Respond
from graphmem.offline.exemplars import load_bank, read_situations
from graphmem.offline.mind import OfflineMind
from graphmem.ports import OnToken
from graphmem.samples import SAMPLES
from graphmem.samples.dialogues import Dialogue, Said, load_dialogues
from graphmem.settings import Settings

T = TypeVar("T")

MATHDIAL = SAMPLES / "mathdial" / "dialogues.jsonl"
APPLES = "I love green apples."


class Trusting(OfflineMind):
    """Expects what it remembers of apples, and else nothing anybody says."""

    name = "trusting"
    seconds = 0.0
    together = 1

    async def ask(self, question: MindQuestion[T], on_token: OnToken | None = None) -> Answer[T]:
        answer = await super().ask(question, on_token)
        value: Any = answer.value
        if isinstance(question, Respond):
            value = replace(value, prediction=_trusted(question.remembered))
        return Answer(value)


def _trusted(remembered: Remembered) -> Prediction:
    facts = [fact.text for fact in remembered.facts]
    memories = [each.memory.content or "" for each in (*remembered.memories, *remembered.profile)]
    return Prediction(APPLES if any("green apples" in text for text in (*facts, *memories)) else "qqqq zzzz")


def dialogue(name: str, student: str, *texts: str) -> Dialogue:
    said = [Said((Author.COMPANION, Author.STUDENT)[i % 2], text) for i, text in enumerate(texts)]
    return Dialogue(name, student, "apples", "made up", tuple(said))


def stubborn(name: str) -> Dialogue:
    """A student who answers each question about apples alike."""
    questions = ("How many green apples are left?", "And whose apples were green?")
    return dialogue(name, "ann", *(text for question in questions for text in (question, APPLES)))


async def test_real_dialogues_go_through_both_arms_and_differ_in_memory_alone(gm: Graphmem) -> None:
    by_student, steps = chosen(load_dialogues(MATHDIAL)[:2], None, 1), []
    async with held_out(gm, load_dialogues(MATHDIAL)) as fair:
        pairs = await compare(fair, by_student, lambda: steps.append(1))
    assert len(steps) == 2 * len(pairs) == 4
    for with_memory, without in pairs:
        assert [a.matched is None for a in with_memory] == [b.matched is None for b in without]
        assert not any(b.recalled_facts or b.recalled for b in without)
    # Of the first message of a session nothing is expected, and of a later one where the tutor asks for something.
    assert [[reply.matched is None for reply in with_memory].index(False) for with_memory, _ in pairs] == [3, 2]
    found = findings(pairs)
    assert found["conversations"] == 2
    # The offline mind foresees alike, whatever is remembered.
    assert not found["tested"]
    assert found["matched_with"] < found["turns"]
    assert 0 < found["mean_match_with"] < 1
    assert not found["enough"]


async def test_a_mind_that_uses_what_is_remembered_does_better_with_it(gm: Graphmem) -> None:
    mind = Trusting(await load_bank(gm.embedder), gm.embedder, gm.reader)
    pairs = await compare(replace(gm, mind=mind), {"ann": [stubborn(f"d{i}") for i in range(7)]})
    found = findings(pairs)
    assert found["turns"] == 7
    assert found["matched_without"] == 0
    # What was learned is recalled once it no longer stands in the conversation.
    assert found["tested"]
    assert found["matched_with"] == found["only_with"] == 6
    assert "improvement" not in found
    assert found["significant"]
    assert found["mcnemar_p"] == pytest.approx(2 / 2**6)
    assert found["reached"]


async def test_what_is_measured_is_taken_out_of_the_bank(gm: Graphmem) -> None:
    situations = read_situations()
    known = dialogue(situations[0].dialogue_id, "bob", "How?", "So.")
    async with held_out(gm, [known]) as fair:
        assert fair.mind is fair.offline
        assert isinstance(fair.offline, OfflineMind)
        kept = fair.offline.bank.situations
    assert known.id not in {situation.dialogue_id for situation in kept}
    assert len(kept) == sum(situation.dialogue_id != known.id for situation in situations)


def test_whole_histories_are_drawn_and_silent_students_left_out() -> None:
    ann = [stubborn(f"ann-{i}") for i in range(3)]
    others = [replace(stubborn(name), student=name) for name in ("bob", "cid", "dan")]
    silent = dialogue("e", "eve", "How?", "So.")
    everything = [ann[0], silent, *others, ann[1], ann[0], ann[2]]
    drawn = chosen(everything, None, 1)
    assert drawn["ann"] == ann
    assert set(drawn) == {"ann", "bob", "cid", "dan"}
    draws = [chosen(everything, 2, seed) for seed in range(20)]
    assert {sum(map(len, draw.values())) for draw in draws} == {2}
    assert all(draw.get("ann", ann)[:2] == ann[: len(draw.get("ann", ann)[:2])] for draw in draws)
    assert len({tuple(draw) for draw in draws}) > 2
    assert chosen(everything, 2, 3) == draws[3]
    with pytest.raises(InvalidInput, match="two things"):
        chosen([silent], None, 1)
    with pytest.raises(InvalidInput, match="At least one"):
        chosen(everything, 0, 1)


def outcome(match: float | None, *, degraded: bool = False) -> Any:
    """The outcome of a turn, as far as the experiment counts it."""
    matched = None if match is None else match >= 0.6
    return SimpleNamespace(match=match, matched=matched, recalled_facts=(), recalled=(), fact=None, degraded=degraded)


def test_a_null_result_and_a_bad_one_are_told_as_they_are() -> None:
    hit, miss, first = outcome(0.9), outcome(0.2, degraded=True), outcome(None)
    null = findings([((first, hit), (first, hit)), ((first,), (first,))])
    assert (null["conversations"], null["improvement"], null["p"], null["mcnemar_p"]) == (1, 0.0, 1.0, 1.0)
    assert not any(null[name] for name in ("tested", "enough", "significant", "improved", "reached"))
    worse = findings([((hit, miss), (hit, hit))] * 60)
    assert (worse["improvement"], worse["difference"], worse["degraded"]) == (-0.5, -0.5, 60)
    assert [worse[name] for name in ("tested", "enough", "significant", "improved", "reached")] == [1, 1, 1, 0, 0]


def test_another_experiment_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="There is no experiment ab"):
        experiment_command(Settings(home=tmp_path), "ab", MATHDIAL, None, 1)


async def test_the_command_prints_one_document_and_uses_a_database_of_its_own(gm: Graphmem, tmp_path: Path) -> None:
    file = tmp_path / "one.jsonl"
    file.write_text((SAMPLES / "bridge" / "dialogues.jsonl").read_text("utf-8").splitlines()[0], "utf-8")
    began = datetime.now(UTC)
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "graphmem", "experiment", "voe", str(file), "--json"),
        env=os.environ,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, err = await process.communicate()
    assert process.returncode == 0, err
    # Where it is no terminal, progress is printed beside the document, and nothing else.
    assert all(line.startswith(("still ", "conversation ")) for line in err.decode().splitlines()), err
    told = json.loads(out)
    assert (told["experiment"], told["model"], told["result"]["enough"]) == ("voe", "offline", False)
    assert told["result"]["conversations"] == 1
    (row,) = await gm.graph.execute(
        "MATCH (s:Student) WHERE s.institution STARTS WITH 'experiment-' AND s.id STARTS WITH 'with-' "
        "AND s.created_at > $began RETURN count(s) AS n",
        {"began": began},
        reads=True,
    )
    assert row["n"] == 0


def test_where_nothing_was_expected_there_is_nothing_to_compare() -> None:
    silent = outcome(None)
    with pytest.raises(InvalidInput, match="nothing to compare"):
        findings([((silent,), (silent,))])
