"""When ledger entries come back."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from graphmem.model import LedgerCategory, LedgerEntry
from graphmem.text.doc import Doc
from graphmem.text.reminders import active_at, closeness, is_active, surfacing
from graphmem.text.stems import stem

AT = datetime(2026, 1, 1, tzinfo=UTC)
NOW = AT.timestamp()
EAST, NORTH = np.eye(2, dtype=np.float32)


def entry(**changes: object) -> LedgerEntry:
    plain = LedgerEntry("ledger-1", LedgerCategory.PROMISE, "x", "x", 0.5, (), (), 0.9, True, None, AT)
    return replace(plain, **changes)  # type: ignore[arg-type]


def why(message: str, **changes: object) -> tuple[str, ...]:
    found = surfacing([entry(**changes)], Doc(message), EAST, [NORTH], NOW)
    return found[0].why if found else ()


def triggered(trigger: str, message: Doc) -> bool:
    return bool(why(message.text, triggers=(trigger,)))


FORMS = [
    "fraction fractions", "promise promised promises promising", "study studies studying studied", "box boxes",
    "class classes", "hope hoping hoped hopes", "hop hopping hopped hops", "plan planning planned",
    "die dying died dies",
    "visit visiting visited", "run running ran runs", "bus buses", "potato potatoes", "knife knives", "child children",
    "buy bought buying", "lend lent lending", "forget forgot forgotten forgetting", "tell telling told",
    "tie tying tied",
    "add adding added", "use using used", "fix fixing fixed", "play playing played", "cookie cookies", "horse horses",
    "owe owes owed owing", "agree agreed agreeing", "see seeing seen saw", "volcano volcanoes volcanos", "miss missing",
    "rabbit rabbit's rabbits", "sister sister’s",
]  # fmt: skip


@pytest.mark.parametrize("forms", FORMS)
def test_every_form_of_a_word_brings_it_back(forms: str) -> None:
    words = forms.split()
    for trigger in words:
        for said in words:
            assert triggered(trigger, Doc(f"Well, {said.upper()}!")), (trigger, said)


@pytest.mark.parametrize(
    ("trigger", "message"),
    [
        ("art", "a party"), ("hop", "I am hoping"), ("new", "the news"), ("even", "this evening"),
        ("teach", "a teacher"),
        ("th", "thing"), ("r", "red"), ("bus", "bu"), ("even", "every"), ("on", "one"), ("paper", "pap"),
        ("organ", "organise"), ("general", "generous"), ("fraction", "fractious"), ("not", "notes"), ("car", "caring"),
        ("ann", "banner"), ("fraction game", "game fraction"), ("fraction game", "a fraction of the game"),
    ],
)  # fmt: skip
def test_another_word_does_not(trigger: str, message: str) -> None:
    assert not triggered(trigger, Doc(message))


@pytest.mark.parametrize(
    ("trigger", "message"),
    [
        ("дроби", "Я не понимаю Дроби."),
        ("Brüche", "ich mag BRÜCHE nicht"),
        ("分数", "我不懂分数"),
        ("cafe\u0301", "das Café"),
        ("555 0142", "Is it 555-0142?"),
        ("well-known", "a well known thing"),
    ],
)
def test_other_scripts_and_signs(trigger: str, message: str) -> None:
    assert triggered(trigger, Doc(message))


def test_other_scripts_are_not_cut() -> None:
    assert not triggered("дроби", Doc("дробиs"))
    assert not triggered("", Doc("anything"))
    assert not triggered("!!", Doc("anything!!"))


def test_phrases_may_be_inflected_word_by_word() -> None:
    assert why("She studied old volcanoes", triggers=("study", "old volcano")) == (
        "trigger: study",
        "trigger: old volcano",
    )


def test_names_are_whole_words_in_any_case() -> None:
    assert why("is MIA's dog there", trigger_entities=("Mia",)) == ("entity: Mia",)
    assert why("miami", trigger_entities=("Mia",)) == ()
    assert why("I saw mrs huang", trigger_entities=("Mrs. Huang",)) == ("entity: Mrs. Huang",)


def test_a_name_that_is_a_word_has_to_be_written_as_a_name() -> None:
    assert why("what will happen", trigger_entities=("Will",)) == ()
    assert why("Will you help me?", trigger_entities=("Will",)) == ()
    assert why("I asked Will about it", trigger_entities=("Will",)) == ("entity: Will",)


def test_meaning_counts_from_the_threshold_on() -> None:
    near = np.array([0.8, 0.6], dtype=np.float32)
    assert closeness(EAST, near) == pytest.approx(0.9)
    for threshold, expected in ((0.8999, ("meaning 0.90",)), (0.91, ())):
        found = surfacing([entry(trigger_threshold=threshold)], Doc("hm"), EAST, [near], NOW)
        assert tuple(w for s in found for w in s.why) == expected
    assert surfacing([entry(trigger_threshold=0.0)], Doc("hm"), EAST, [None], NOW) == []


def test_instructions_always_come_and_come_first() -> None:
    told = entry(id="told", category=LedgerCategory.INSTRUCTION)
    named = entry(id="named", triggers=("dog", "cat"))
    once = entry(id="once", triggers=("dog",), importance=1.0)
    found = surfacing([once, named, told], Doc("My dog and my cat"), EAST, np.stack([NORTH] * 3), NOW)
    assert [s.entry.id for s in found] == ["told", "named", "once"]
    assert found[0].why == ("instruction",)


def test_only_the_ten_newest_instructions_come() -> None:
    told = [
        entry(id=f"i{i}", category=LedgerCategory.INSTRUCTION, created_at=AT + timedelta(minutes=i)) for i in range(40)
    ]
    found = surfacing(told, Doc("Hello"), EAST, np.stack([NORTH] * 40), NOW)
    assert {s.entry.id for s in found} == {f"i{i}" for i in range(30, 40)}


@pytest.mark.parametrize("category", list(LedgerCategory))
def test_what_is_settled_or_expired_never_comes(category: LedgerCategory) -> None:
    for gone in (entry(is_active=False), entry(expires_at=AT), entry(expires_at=AT - timedelta(days=1))):
        assert not is_active(gone, NOW)
        assert surfacing([replace(gone, category=category, triggers=("dog",))], Doc("dog"), EAST, [EAST], NOW) == []
    assert is_active(entry(expires_at=AT + timedelta(seconds=1)), NOW)


def test_each_entry_needs_its_vector() -> None:
    with pytest.raises(ValueError):
        surfacing([entry()], Doc("hm"), EAST, [], NOW)


@example("๚", "")
@given(st.text(max_size=60), st.text(max_size=20))
def test_any_text_brings_itself_back(text: str, more: str) -> None:
    assert triggered(text, Doc(f"{more} ({text}) {more}")) == any(c.isalnum() for c in text)


@given(st.from_regex(r"[a-z]{1,14}", fullmatch=True))
def test_no_stem_is_empty(word: str) -> None:
    assert stem(word)


def test_an_entry_is_shown_as_it_was_at_the_moment_asked_about() -> None:
    day = timedelta(days=1)
    settled = entry(created_at=AT + day, is_active=False, settled_at=AT + 3 * day)
    assert [active_at(settled, AT + n * day) is not None for n in range(5)] == [False, True, True, False, False]
    expiring = entry(expires_at=AT + 2 * day)
    assert [active_at(expiring, AT + n * day) is not None for n in range(4)] == [True, True, False, False]
    assert active_at(entry(is_active=False), AT) is None
