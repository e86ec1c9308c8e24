"""Concepts recognised in texts, and what of them is hidden."""

import json
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from graphmem.flows.world import read_world
from graphmem.model import Concept
from graphmem.samples import SAMPLES
from graphmem.search.fog import BLANK, blanked
from graphmem.text.concepts import ConceptNames, hidden_mentions, longest

CONCEPTS = (
    Concept("fraction", "fraction", ("fracción", "Bruch")),
    Concept("common", "common fraction"),
    Concept("percent", "percent", ("per hundred",)),
    Concept("mean", "mean", ("average",)),
    Concept("pythagoras", "Pythagoras' theorem", ("Pythagorean theorem",)),
    Concept("division", "division", ("divide",)),
    Concept("share", "sharing", ("divide",)),
    Concept("ratio", "比例"),
    Concept("root", "square root", ("√", "racine carrée")),
    Concept("log", "logarithm", ("log",)),
)
NAMES = ConceptNames(CONCEPTS)
NAMINGS = Path(__file__).parents[1] / "data" / "namings.jsonl"


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("What comes after fractions?", ["fraction"]),
        ("FRACTION'S rule", ["fraction"]),
        ("las fracciones", ["fraction"]),
        ("Ein Bruch.", ["fraction"]),
        ("f r a c t i o n s are next", ["fraction"]),
        ("f-r-a-c-t-i-o-n", ["fraction"]),
        ("f.r.a.c.t.i.o.n", ["fraction"]),
        ("a c o m m o n   f r a c t i o n", ["common"]),
        ("frac-tions", ["fraction"]),
        ("frac tion", ["fraction"]),
        ("frac\u200bti\u00adon", ["fraction"]),
        ("fractoins", ["fraction"]),
        ("ｆｒａｃｔｉｏｎ", ["fraction"]),
        ("a common fraction", ["common"]),
        ("ten per cent", ["percent"]),
        ("Pythagoras theorem and the Pythagorean theorems", ["pythagoras", "pythagoras"]),
        ("We divided it.", ["division", "share"]),
        ("我们学比例吧", ["ratio"]),
        ("√9 is 3, and √ 16?", ["root", "root"]),
        ("la racine carrée de 9", ["root"]),
        ("log(8), the LOG of 2", ["log", "log"]),
        ("a blog of a slog", []),
        ("a friction, a faction, an action", []),
        ("The fract ured i on", []),
        ("", []),
    ],
)
def test_names_are_recognised(text: str, named: list[str]) -> None:
    assert [i for m in longest(NAMES.find(text)) for i in m.concept_ids] == named


def test_names_are_recognised_however_they_are_disguised() -> None:
    rows = [json.loads(line) for line in NAMINGS.read_text("utf-8").splitlines()]
    names = ConceptNames(concept for _, concept in read_world(SAMPLES / "mathematics" / "world.csv").concepts)
    caught = [any(row["concept"] in m.concept_ids for m in names.find(row["text"])) for row in rows]
    assert caught == [row["caught"] for row in rows]


@pytest.mark.parametrize(
    "text", ["a powerful number", "optimism", "the numerator", "total area", "He was meaningful.", "Umformung", "time"]
)
def test_what_is_only_like_a_name_is_none(text: str) -> None:
    given = (("power", ()), ("optimization", ()), ("numeral", ()), ("mean", ()), ("área total", ()), ("times", ()))
    assert ConceptNames([Concept(name, name, aliases) for name, aliases in given]).find(text) == ()


@pytest.mark.parametrize(
    ("text", "is_verb"),
    [
        ("That means ten.", True),
        ("What do you mean?", True),
        ("It really means a lot.", True),
        ("What does twice mean?", True),
        ("We meant well.", True),
        ("The mean is ten.", False),
        ("Find the mean.", False),
        ("Their means differ.", False),
        ("Does the mean change?", False),
    ],
)
def test_a_verb_is_told_from_a_noun(text: str, is_verb: bool) -> None:
    assert [m.is_verb for m in NAMES.find(text)] == [is_verb]


def test_a_common_word_is_told_apart() -> None:
    assert [m.is_common for m in NAMES.find("I mean, on average, a fraction.")] == [True, True, False]
    assert [word for concept_id, word in NAMES.common_words if concept_id in ("mean", "fraction")] == [
        "mean",
        "average",
    ]


def test_a_shared_name_is_shown_to_whoever_knows_one_of_its_concepts() -> None:
    found = NAMES.find("divide it")
    assert hidden_mentions(found, ()) == found
    assert hidden_mentions(found, {"share"}) == ()


def test_a_known_name_shows_the_names_within_it_but_none_around_it() -> None:
    found = NAMES.find("a common fraction")
    assert hidden_mentions(found, {"common"}) == ()
    assert [m.concept_ids for m in hidden_mentions(found, {"fraction"})] == [("common",)]


def test_there_may_be_no_concepts() -> None:
    nothing = ConceptNames([Concept("?", "?!")])
    assert not nothing
    assert nothing.find("a fraction ?!") == ()


@example(["f", "fraction", "12", "common", "f", "f"])
@given(st.lists(st.sampled_from(["fraction", "common", "mean", "per", "cent", "and", "12", "f", "r", "-", "\n", "x"])))
def test_places_are_those_of_the_text(words: list[str]) -> None:
    text = " ".join(words)
    for mention in NAMES.find(text):
        assert 0 <= mention.start < mention.end <= len(text)
        alone = text[mention.start : mention.end]
        assert mention.concept_ids in [other.concept_ids for other in NAMES.find(alone)]


@given(st.text(alphabet="fraction- \u200b.,\n", max_size=60), st.sets(st.sampled_from([c.id for c in CONCEPTS])))
def test_nothing_hidden_is_left_after_blanking(text: str, known: set[str]) -> None:
    hidden = hidden_mentions(NAMES.find(text), known)
    clear = blanked(text, hidden)
    assert (clear == text) == (not hidden)
    assert not hidden_mentions(NAMES.find(clear), known) or BLANK in clear
