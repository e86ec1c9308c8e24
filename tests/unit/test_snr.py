"""The signal-to-noise ratio of a message: bands, order, bounds, odd texts."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.maths.features import emotion
from graphmem.text.affect import load_affect
from graphmem.text.doc import Doc
from graphmem.text.information import PASSES, passes, snr

DATA = Path(__file__).parents[1] / "data"
UNIT = st.floats(0, 1)


def plain(text: str) -> int:
    return snr(Doc(text), novelty=1.0, feeling=0.0)


@pytest.mark.parametrize("text", ["", " ", "\x00\x01", "🎉😂🎉", "?!...", "-" * 32_000, "<p></p>", "<br/>&nbsp;"])
def test_without_a_word_there_is_nothing(text: str) -> None:
    assert snr(Doc(text), novelty=1.0, feeling=1.0) == 0


@pytest.mark.parametrize(
    "text",
    [
        "Hello",
        "Thanks",
        "ok I see",
        "yes",
        "no",
        "Yes, that's right!",
        "hahahaha",
        "sooooo cooool",
        "Thank you so much 😊",
        "I don't know",
        "what?",
        "how are you?",
        "See you later, bye!",
        "Hey Jon, good morning!",
        "<div>Hello</div>",
        "ugh",
        "okie dokie",
        "hang on hang on, gimme a sec",
    ],
)
def test_small_talk_is_not_stored(text: str) -> None:
    assert passes(plain(text)) == 0


@pytest.mark.parametrize("text", ["1/2", "50 and 124", "31 length", "a polygon", "2 equal angles", "its 16/8", "x = 4"])
def test_a_piece_of_an_answer_is_not_stored(text: str) -> None:
    assert passes(plain(text)) == 0


@pytest.mark.parametrize(
    "text",
    ['How do you say "tree"?', "what is the word for bed", "What's a bunny?", "How do I write a cheque?", "autism"],
)
def test_a_question_with_a_subject_and_a_grave_word_are_stored(text: str) -> None:
    assert passes(plain(text)) >= 1


@pytest.mark.parametrize(
    "text",
    [
        "My sister Nele moves to Rome in May.",
        "моя бабушка вчера умерла, и я не могу спать",
        "Meine Schwester Nele zieht im August nach Rom",
        "我叫小明，我的狗昨天在公园里走丢了",
    ],
)
def test_what_tells_much_is_read_twice_in_any_script(text: str) -> None:
    assert passes(plain(text)) >= 2


@pytest.mark.parametrize(
    ("more", "less"),
    [
        ("I moved to Leeds in March.", "Did you move to Leeds in March?"),
        ("I moved to Leeds in March.", "I moved to a town."),
        ("We visited Amira and Joost.", "We visited someone nice."),
        ("I got 17 of 20 points.", "I got some points."),
        ("My teacher helped me with decimals.", "You did great with decimals."),
        ("The numerator exceeds the denominator.", "The people want some water."),
        ("My aunt never eats cheese.", "My aunt eats cheese."),
        ("I talked to Felix.", "I talked, Felix."),
        ("Dad lost the job in Leeds.", "Kurt lost the job in Leeds."),
        ("I like maps because they tell stories.", "I like maps and they tell stories."),
        ("We spent $55 x 6 = $330 on cakes.", "Toula spent $55 x 6 = $330 on cakes."),
        ("The cat sleeps in the box. The plant grows there.", "The cat sleeps there."),
    ],
)
def test_what_counts(more: str, less: str) -> None:
    assert plain(more) > plain(less)


def test_distinct_words_count() -> None:
    assert plain("mitochondria " * 1_000) < PASSES[0]
    once = "My brother found a hedgehog in the garden."
    assert plain(once) == plain(f"{once} " * 50)
    assert plain(" ".join(map(str, range(3_000)))) < PASSES[2]


def test_tags_and_links_are_not_words() -> None:
    text = "My sister Nele moves to Rome."
    assert plain(f'<div class="message big" style="color:red"><p>{text}</p></div>') == plain(text)
    assert plain("See https://example.org/a/very/long/path/about?many=things") == plain("See example.org")
    assert plain("It fits if a<width and height>b") == plain("It fits if a width and height b") > PASSES[0]


@pytest.mark.parametrize("text", ["<" * 32_000, "<a b=" * 6_400, "A" * 32_000, "." * 32_000, '."' + '"' * 31_000])
def test_long_odd_texts_tell_nothing(text: str) -> None:
    assert plain(text) < PASSES[0]


@given(st.text(), UNIT, UNIT)
def test_bounds(text: str, novelty: float, feeling: float) -> None:
    score = snr(Doc(text), novelty, feeling)
    assert isinstance(score, int)
    assert 0 <= score <= 1000


TOLD = st.sampled_from(
    ["I moved to Leeds in March.", "photosynthesis needs light", "My dog died.", "Hello!", "Is it 4?"]
)


@given(TOLD, UNIT, UNIT, UNIT, UNIT)
def test_never_falls_with_novelty_or_feeling(text: str, a: float, b: float, c: float, d: float) -> None:
    assert snr(Doc(text), min(a, b), min(c, d)) <= snr(Doc(text), max(a, b), max(c, d))


def test_what_is_known_already_tells_less_and_feeling_adds() -> None:
    text = "I moved to Leeds in March."
    assert snr(Doc(text), novelty=0.0, feeling=0.0) < plain(text) < snr(Doc(text), novelty=1.0, feeling=1.0)


def test_passes_at_their_bounds() -> None:
    assert [passes(score) for score in (0, 99, 100, 399, 400, 799, 800, 1000)] == [0, 0, 1, 1, 2, 2, 3, 3]


@pytest.mark.parametrize(
    ("name", "split", "least"),
    [("snr_labelled", "dev", 0.84), ("snr_train", "train", 0.82), ("snr_labelled", "test", 0.81)],
)
def test_bands_of_labelled_messages(name: str, split: str, least: float) -> None:
    affect = load_affect()
    lines = (DATA / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [row for row in map(json.loads, lines) if row["split"] == split]
    hits = 0
    for row in rows:
        doc = Doc(row["text"])
        feeling = emotion(affect.valence(doc, None), affect.arousal(doc, None))
        hits += passes(snr(doc, novelty=1.0, feeling=feeling)) == row["band"]
    assert len(rows) >= 100
    assert hits / len(rows) >= least
