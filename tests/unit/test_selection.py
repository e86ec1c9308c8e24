"""Which statements of a message are kept: as the shipped judge of statements sees them."""

import json
from pathlib import Path

import pytest

from graphmem.bench.scores import auroc
from graphmem.offline.selection import LEAST_ALONE, select_statements
from graphmem.text.statement_judge import VERDICTS, load_statement_judge

STATEMENTS = Path(__file__).parents[2] / "scripts" / "data" / "statements.jsonl"


def test_statements_of_talk_that_the_judge_has_not_seen_are_told_apart() -> None:
    rows = [json.loads(line) for line in STATEMENTS.read_text("utf-8").splitlines()]
    unseen = [row for row in rows if row["source"] == "tiage_dev"]
    worths = [load_statement_judge().worth(row["text"], "Sam") for row in unseen]
    assert len(unseen) == 280
    assert auroc(worths, [row["verdict"] == VERDICTS[0] for row in unseen]) > 0.85


def test_a_name_tells_the_judge_nothing() -> None:
    judge = load_statement_judge()
    told = [judge.worth(f"{name} plays the violin in {name}'s band.", name) for name in ("Zoë", "The student", "Will")]
    assert len(set(told)) == 1


@pytest.mark.parametrize(
    ("told", "kept"),
    [
        (["Sam has two dogs.", "Sam thinks that is great."], ["Sam has two dogs."]),
        (["Sam has a cat.", "Sam says that his name is Spook."], ["Sam has a cat. Sam says that his name is Spook."]),
        (["Sam would love that."], []),
        ([], []),
    ],
)
def test_what_points_at_something_stands_only_with_it(told: list[str], kept: list[str]) -> None:
    assert [each.text for each in select_statements(told, [LEAST_ALONE] * len(told), "Sam")] == kept


def test_what_stands_anyway_is_kept_however_it_is_judged() -> None:
    assert [(s.first, s.last) for s in select_statements(["Sam would love that."], [0.0], "Sam")] == [(0, 0)]
