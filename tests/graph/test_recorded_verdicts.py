"""What comes of recorded answers of three kinds of models to the question how two statements stand to each other."""

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from html import unescape

from graphmem.app import Graphmem
from graphmem.flows.context import context
from graphmem.flows.reconciliation import reconcile
from graphmem.model import Classify, PairClass, PairVerdict, Reliability, StatementOnRecord, StatementPair
from tests.conftest import Enrol
from tests.support.language import with_model
from tests.support.llm_server import Json, Seen, llm_server
from tests.support.minds import ScriptedMind
from tests.support.recorded_model import recorded_rows
from tests.support.remembering import held, told

PAIRS = recorded_rows("pairs")


class RecordedVerdicts:
    """Answers to requests with pairs, from recorded verdicts; pairs that are not recorded have none."""

    def __init__(self, name: str) -> None:
        rows = recorded_rows(f"{name}_verdicts")
        self.texts = {pair["id"]: (pair["old"], pair["new"]) for pair in PAIRS}
        self.by_pair = {row["of"]: row for row in rows if "of" in row}
        self.unasked = [row for row in rows if "of" not in row]

    def __call__(self, seen: Seen) -> str | None:
        if "<pair 1>" not in seen.question:
            return None
        verdicts: list[Json] = []
        for number, block in re.findall(r"<pair (\d+)>(.*?)</pair>", seen.question, re.DOTALL):
            for name, texts in self.texts.items():
                if name in self.by_pair and all(text in unescape(block) for text in texts):
                    row = {key: value for key, value in self.by_pair[name].items() if key != "of"}
                    verdicts.append({"pair": int(number)} | row)
        return json.dumps({"verdicts": verdicts + self.unasked})


def asked_about(pairs: Sequence[Json]) -> Classify:
    def said(text: str, day: str) -> StatementOnRecord:
        return StatementOnRecord(text, datetime.fromisoformat(day).replace(tzinfo=UTC))

    return Classify(tuple(StatementPair(said(p["old"], p["old_at"]), said(p["new"], p["new_at"])) for p in pairs))


async def verdicts_of(gm: Graphmem, name: str, pairs: Sequence[Json]) -> tuple[PairVerdict, ...]:
    with llm_server(answer=RecordedVerdicts(name)) as server:
        async with with_model(gm, server) as talking:
            answer = await talking.mind.ask(asked_about(pairs))
            assert len(server.seen) == 1
            return answer.value


async def test_a_careful_model_is_read_as_it_writes(gm: Graphmem) -> None:
    found = await verdicts_of(gm, "careful", PAIRS)
    assert [verdict.kind.value for verdict in found] == [pair["class"] for pair in PAIRS]
    assert all(verdict.reasoning and verdict.surface_context for verdict in found)
    # The numbers are those of the question, whatever the order.
    assert await verdicts_of(gm, "careful", PAIRS[::-1]) == found[::-1]


async def test_a_careless_model_costs_no_verdict_and_ends_nothing_by_a_word_that_is_no_chance(gm: Graphmem) -> None:
    found = dict(zip((p["id"] for p in PAIRS), await verdicts_of(gm, "careless", PAIRS), strict=True))
    left_out = found.pop("cat")
    assert (left_out.kind, left_out.confidence, left_out.ended) == (PairClass.COMPATIBLE, 0.0, 0.0)
    assert {name: verdict.kind.value for name, verdict in found.items()} == {
        pair["id"]: pair["class"] for pair in PAIRS if pair["id"] in found
    }
    assert (found["home"].confidence, found["home"].ended) == (0.95, 0.9)
    assert found["subject"].ended == found["talk"].ended == found["hungry"].ended == 0.0
    assert {verdict.confidence for verdict in found.values()} <= {0.0, 0.07, 0.7, 0.8, 0.95, 1.0}


async def test_a_hostile_model_ends_nothing_that_only_it_doubts(gm: Graphmem, enrol: Enrol) -> None:
    pupil = await enrol("hostile-verdicts")
    apart = [pair for pair in PAIRS if pair["id"] in ("instrument", "cat")]

    async def compatible(question: Classify) -> tuple[PairVerdict, ...]:
        return tuple(PairVerdict(PairClass.COMPATIBLE, 0.9, 0.0, 0.0) for _ in question.pairs)

    quiet = ScriptedMind(gm.offline, {Classify: compatible})
    await told(replace(gm, offline=quiet, mind=quiet), pupil, *(p[side] for p in apart for side in ("old", "new")))
    with llm_server(answer=RecordedVerdicts("hostile")) as server:
        async with with_model(gm, server) as talking:
            assert await reconcile(talking, pupil.session, by_hand=True) == ()
            prompt = (await context(talking, pupil.session, "What do you know of my cat and my cello?")).prompt
    assert {memory.reliability for memory in await held(gm, pupil.session)} == {Reliability.RELIABLE}
    assert all(memory.invalid_at is None for memory in await held(gm, pupil.session))
    assert "<system>" not in prompt


async def test_what_a_hostile_model_writes_beside_its_verdicts_is_cut_and_numbers_are_bounded(gm: Graphmem) -> None:
    found = await verdicts_of(gm, "hostile", PAIRS)
    assert len(found) == len(PAIRS)
    assert all(0.0 <= verdict.confidence <= 1.0 and 0.0 <= verdict.ended <= 1.0 for verdict in found)
    assert all(len(verdict.surface_context) + len(verdict.reasoning) < 2_000 for verdict in found)
