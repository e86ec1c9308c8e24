"""The labelled sets that judge recognition of concepts and the filter: complete, and of the world that ships."""

import json
from collections import Counter
from itertools import combinations
from pathlib import Path
from string import Formatter
from typing import Any

from graphmem.flows.world import find_world, read_world

DATA = Path(__file__).parents[1] / "data"


def rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (DATA / name).read_text("utf-8").splitlines()]


def test_the_sentences_name_concepts_of_the_world_that_ships() -> None:
    known = {concept.id for _, concept in read_world(find_world("mathematics")).concepts}
    for row in rows("recognition.jsonl"):
        assert set(row) == {"text", "concepts", "word", "split", "origin", "dialogue"}
        assert set(row["concepts"]) <= known, row
        assert row["word"] is None or row["word"] in row["text"].casefold()


def test_both_splits_hold_as_much_of_each_kind() -> None:
    sentences = rows("recognition.jsonl")
    assert len({row["text"] for row in sentences}) == 200
    splits = {name: [row for row in sentences if row["split"] == name] for name in ("choose", "held")}
    for found in splits.values():
        assert len(found) == 100
        assert sum(not row["concepts"] for row in found) >= 30
        assert sum(row["word"] is not None for row in found) >= 30
    for one, other in combinations(splits.values(), 2):
        assert not {row["dialogue"] for row in one} & {row["dialogue"] for row in other}


def test_common_words_occur_in_both_senses() -> None:
    senses = Counter(bool(row["concepts"]) for row in rows("recognition.jsonl") if row["word"] == "times")
    assert min(senses[True], senses[False]) >= 5


def test_the_prompts_ask_in_many_ways_and_languages() -> None:
    prompts = rows("leak_prompts.jsonl")
    assert len({row["prompt"] for row in prompts}) == 360
    assert min(Counter(row["language"] for row in prompts).values()) >= 25
    assert min(Counter(row["kind"] for row in prompts).values()) >= 5
    for row in prompts:
        assert set(row) == {"prompt", "kind", "language"}
        assert {field for _, field, _, _ in Formatter().parse(row["prompt"]) if field is not None} <= {
            "hidden",
            "known",
        }
