"""The benchmarks of memory, small: what they read, when evidence counts as found, and a run of each over the API."""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest

from graphmem.app import Graphmem
from graphmem.bench import recall, turn
from graphmem.bench.talks import EvidenceQuestion, is_found, read_talks, share_found
from graphmem.errors import Conflict, InvalidInput
from graphmem.flows.context import tentative_memory
from graphmem.flows.session_cache import open_memories
from graphmem.model import Observation, Recalled, SourceKind
from graphmem.samples import SAMPLES
from graphmem.store import memories
from tests.conftest import Enrol, Pupil

SAID = [
    "I adopted a grey kitten called Biscuit from the shelter in Utrecht.",
    "How lovely! My brother Piet bakes rye bread every Sunday.",
    "Hm.",
    "On Friday I start as a nurse at the children's hospital.",
    "I sold my old violin to pay for driving lessons.",
]
TALK = {
    "conversation_id": "made-up",
    "turns": [
        {
            "id": f"D1:{i}",
            "speaker": "Noor" if i % 2 else "Tess",
            "text": text,
            "session": 1,
            "session_date": "1:56 pm on 8 May, 2023",
        }
        for i, text in enumerate(SAID, start=1)
    ]
    + [
        {
            "id": "D2:1",
            "speaker": "Tess",
            "text": "Look at this!",
            "session": 2,
            "session_date": "10:05 am on 2 June, 2023",
            "image_caption": "a sailing boat with a red mast",
        }
    ],
    "qa": [
        {"question": "Which pet did Noor adopt?", "category": 4, "evidence": ["D1:1"]},
        {"question": "What do Piet and Tess do?", "category": 1, "evidence": ["D1:2; D1:4", "D1:2", "D9:17"]},
        {"question": "What did Noor sell?", "category": 5, "evidence": ["D1:5"]},
        {"question": "Nobody knows?", "category": 2, "evidence": ["D9:17"]},
    ],
}


@pytest.fixture
def locomo(tmp_path: Path) -> Path:
    file = tmp_path / "talks.jsonl"
    file.write_text(json.dumps(TALK) + "\n", "utf-8")
    return file


def test_a_conversation_is_read_with_its_dates_captions_and_evidence(locomo: Path) -> None:
    (talk,) = read_talks(locomo)
    assert [turn.at for turn in talk.turns[:2]] == [
        datetime(2023, 5, 8, 13, 56, tzinfo=UTC),
        datetime(2023, 5, 8, 13, 56, 20, tzinfo=UTC),
    ]
    assert talk.turns[-1].text == "Look at this! [shares: a sailing boat with a red mast]"
    assert talk.turns[-1].at == datetime(2023, 6, 2, 10, 5, tzinfo=UTC)
    # Several ids in one entry are taken apart, known ones count once, category 5 and unknown evidence are left out.
    assert [(q.gold, q.category) for q in talk.questions] == [
        (("D1:1",), "category_4"),
        (("D1:2", "D1:4"), "category_1"),
    ]


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("{", "not JSON"),
        ("[]", "a JSON object is needed"),
        ('{"turns": []}', "qa"),
        ('{"turns": [{"session_date": "1:56 pm on 8 May, 2023"}], "qa": []}', "text"),
        ('{"messages": [{"id": 0, "role": "user", "date": "soon", "text": "x"}], "questions": []}', "soon"),
        ('{"turns": [{"speaker": "A", "text": "x", "session_date": "soon"}], "qa": []}', "soon"),
    ],
)
def test_another_format_is_refused_with_its_line(locomo: Path, line: str, told: str) -> None:
    locomo.write_text(f"{json.dumps(TALK)}\n{line}\n", "utf-8")
    with pytest.raises(InvalidInput, match="line 2") as refused:
        read_talks(locomo)
    assert told in str(refused.value)


def test_evidence_is_found_by_half_of_its_words_from_its_own_source_only() -> None:
    said = "Grey kitten Biscuit, shelter Utrecht, brother"
    turn = Observation(SourceKind.CHAT, "7", said, datetime(2023, 5, 8, tzinfo=UTC), "Noor")
    silent = replace(turn, ref="8", text="It is.")

    def named(content: str, *refs: str) -> Recalled:
        known = tentative_memory("memory-1", Observation(SourceKind.CHAT, refs[0], content, turn.at))
        return Recalled(replace(known, source_refs=refs), 1.0, 1.0, ())

    assert is_found(turn, [named("a grey kitten, Biscuit", "7")])
    assert not is_found(turn, [named("a grey kitten", "7")])
    assert not is_found(turn, [named(turn.text, "9")])
    assert is_found(turn, [named("a grey kitten", "7"), named("the shelter", "7", "9")])
    assert is_found(silent, [named("anything", "8")])
    assert not is_found(silent, [])
    both = EvidenceQuestion("?", ("7", "8"))
    assert share_found(both, {"7": turn, "8": silent}, [named("no word of it", "7", "8")]) == 0.5


async def test_recall_end_to_end_on_a_conversation(gm: Graphmem, locomo: Path) -> None:
    figures = await recall.recall_figures(gm, read_talks(locomo))
    assert figures["questions"] == 2
    # Six turns in all, so whatever was remembered of them is among ten.
    assert figures["recall@10"] == figures["recall@50"] == 1.0
    assert figures["recall@10_category_1"] == figures["recall@10_category_4"] == 1.0
    assert figures["recall@10_low"] <= figures["recall@10"] <= figures["recall@10_high"]
    assert figures["cosine@10"] == 1.0
    # A block shows what is likely to answer, not all that would fit into it.
    assert 0.75 <= figures["recall_1000_tokens"] <= 1.0
    # "Hm." says nothing, so nothing is remembered of it.
    assert 0.5 <= figures["turns_remembered"] < 1.0
    # Two of six turns are kept at 30 %; gold are the first, the second and the fourth.
    assert 0 <= figures["kept@30"] <= 2 / 3
    assert figures["question_p50_ms"] > 0


async def test_a_misconception_leads_to_its_session(gm: Graphmem) -> None:
    file = SAMPLES / "mathdial" / "dialogues.jsonl"
    figures = await recall.misconception_figures(gm, file)
    assert figures["questions"] == len(file.read_text("utf-8").splitlines())
    assert figures["session@1"] <= figures["mrr"] <= figures["session@5"] == 1.0
    assert figures["memories_per_turn"] > 0


async def test_precision_is_of_the_beliefs_that_a_context_shows(gm: Graphmem, tmp_path: Path) -> None:
    beliefs = [{"_id": "kitten", "content": SAID[0]}, {"_id": "violin", "content": SAID[4]}]
    cases = [
        {"query": "Which kitten did I adopt?", "expect": {"relevantBeliefs": {"shouldOnlyInclude": ["kitten"]}}},
        {"query": "Anything?", "expect": {"relevantBeliefs": {"shouldOnlyInclude": []}}},
    ]
    (tmp_path / recall.BELIEF_FILE).write_text(json.dumps(beliefs), "utf-8")
    (tmp_path / "cases.json").write_text(json.dumps(cases), "utf-8")
    figures = await recall.precision_figures(gm, *recall.read_cases(tmp_path / "cases.json"))
    assert figures["cases"] == figures["recall"] == 1
    assert 0.5 <= figures["precision"] <= 1
    (tmp_path / "cases.json").write_text("[{}]", "utf-8")
    with pytest.raises(InvalidInput, match="PrecisionMemBench"):
        recall.read_cases(tmp_path / "cases.json")


def test_what_was_never_remembered_is_never_kept() -> None:
    scores, is_gold = np.array([-np.inf, 0.2, 0.1, 0.3]), np.array([True, True, False, False])
    assert recall.evidence_kept(scores, is_gold, 50) == 0.5
    assert recall.evidence_kept(scores, is_gold, 100) == 0.5


async def test_scale_measures_every_size(gm: Graphmem) -> None:
    figures = await turn.scale_figures(gm, turn.scale_sentences(None)[:100], [40, 120], asked=10)
    assert {f"{kind}_ms@{n}" for kind in ("p50", "p95") for n in (40, 120)} <= set(figures)
    assert np.isfinite(figures["exponent"])
    assert figures["load_s@120"] > 0


async def test_an_import_is_searchable_at_once_and_may_run_twice(gm: Graphmem, ann: Pupil, enrol: Enrol) -> None:
    vectors = await gm.embedder.embed(["a", "b"])
    made = turn.made_memories(ann.session, ["I like horses.", "Tess plays chess."], vectors, 3)
    made[2] = replace(made[2], memory=replace(made[2].memory, timestamp=made[1].memory.timestamp + timedelta(hours=2)))
    before = await open_memories(gm, ann.session)
    for _ in range(2):
        assert await turn.import_memories(gm.graph, ann.session, made, gm.clock()) == 3
    held = await open_memories(gm, ann.session, before.version + 1)
    assert [m.content for m in reversed(held.index.latest(5))] == [each.memory.content for each in made]
    assert held.index.latest(1)[0].source_refs == ("bench-2",)
    edges = await memories.list_edges(gm.graph, ann.who, [each.memory.id for each in made])
    # The third was said two hours later, and so does not follow the second.
    assert [len(of_one) for of_one in edges.values()] == [1, 1, 0]
    bob = await enrol("bob")
    assert len((await open_memories(gm, bob.session)).index) == 0
    other = replace(made[0], memory=replace(made[0].memory, id="memory-of-another-id"))
    with pytest.raises(Conflict):
        await turn.import_memories(gm.graph, ann.session, [other], gm.clock())
    with pytest.raises(InvalidInput, match="has no vector"):
        await turn.import_memories(gm.graph, ann.session, [replace(other, vector=None)], gm.clock())
