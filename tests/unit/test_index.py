"""The index of memories: what is put in is found, and nothing else."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphmem.errors import InvalidInput
from graphmem.model import (
    Matrix,
    Memory,
    Reliability,
    Vector,
)
from graphmem.search.index import FEEDBACK_MIN_LIMIT, MIN_DENSE_ONLY_COSINE, TERMS, SearchIndex
from graphmem.search.scoring import Hit, SearchQuery
from graphmem.text.doc import Doc, read_question
from tests.support.memories import memory as plain_memory

AT = datetime(2026, 1, 1, 9, tzinfo=UTC)
DIMENSION = 4
TEXTS = ["I love football", "the apples cost 12", "why do we halve it?", "", "分数很难", "Bello barks at night"]


def memory(name: str, text: str, minutes: float = 0.0, *, before: str = "", speaker: str | None = None) -> Memory:
    at = AT + timedelta(minutes=minutes)
    return plain_memory(
        name,
        text,
        speaker=speaker,
        before=before,
        timestamp=at,
        last_accessed=at,
        valid_at=at,
        source_refs=(name,),
        snr=300,
        content_hash=text,
    )


def axis(place: int) -> Vector:
    vector: Vector = axes([place])[0]
    return vector


def axes(places: list[int]) -> Matrix:
    return np.eye(DIMENSION, dtype=np.float32).take([place % DIMENSION for place in places], axis=0)


def asking(question: str, vector: Vector, index: SearchIndex, *, days: float = 365.0) -> SearchQuery:
    asked = read_question(Doc(question), index.speakers())
    return SearchQuery(vector=vector, words=asked.words, names=asked.names, now=AT + timedelta(days=days))


def ids(hits: list[Hit]) -> list[str]:
    return [hit.memory.id for hit in hits]


@pytest.fixture
def index() -> SearchIndex:
    return SearchIndex(DIMENSION)


def test_a_memory_is_found_by_an_inflected_word_whatever_its_meaning(index: SearchIndex) -> None:
    index.put(memory("a", "We halved the cake"), axis(0))
    index.put(memory("b", "I met Tom", 600), axis(1))
    (hit,) = index.search(asking("halving cakes", axis(3), index))
    assert hit.memory.id == "a"
    assert 0 < hit.relevance <= 1
    assert "lexical" in hit.why
    assert "dense" not in hit.why


def test_a_name_is_held_where_every_word_of_it_was_said(index: SearchIndex) -> None:
    index.put(memory("m", "Karim Nowak barks at Bello"), axis(0))
    assert index.holds("Karim Nowak")
    assert index.holds("bello")
    assert not index.holds("Karim Smith")
    assert not index.holds("")


def test_a_memory_is_found_by_meaning_alone_from_the_floor_on(index: SearchIndex) -> None:
    index.put(memory("a", "Numbers frighten me"), axis(0))
    near = np.array(
        [MIN_DENSE_ONLY_COSINE + 0.01, np.sqrt(1 - (MIN_DENSE_ONLY_COSINE + 0.01) ** 2), 0, 0], dtype=np.float32
    )
    far = np.array(
        [MIN_DENSE_ONLY_COSINE - 0.01, np.sqrt(1 - (MIN_DENSE_ONLY_COSINE - 0.01) ** 2), 0, 0], dtype=np.float32
    )
    assert ids(index.search(asking("Is maths scary?", near, index))) == ["a"]
    assert index.search(asking("Is maths scary?", far, index)) == []


def test_what_the_one_named_said_is_found_even_by_little_meaning(index: SearchIndex) -> None:
    index.put(memory("a", "Numbers frighten me", speaker="Julia"), axis(0))
    index.put(memory("b", "They bore me", 600, speaker="Tom"), axis(0))
    assert ids(index.search(asking("Is maths scary for Julia?", axis(1), index))) == ["a"]


def test_what_was_said_after_and_two_memories_away_finds_a_memory_too_but_only_within_a_sitting(
    index: SearchIndex,
) -> None:
    for name, text, minutes in (("a", "It is red", 0), ("b", "Yes", 1), ("c", "A bicycle", 2), ("d", "Hm", 200)):
        index.put(memory(name, text, minutes), axis(0))
    hits = index.search(asking("bicycle", axis(3), index))
    assert set(ids(hits)) == {"a", "b", "c"}
    assert ids(hits)[0] == "c"


def test_what_was_said_before_finds_a_memory(index: SearchIndex) -> None:
    index.put(memory("a", "About twelve", before="How many marbles are there?"), axis(0))
    index.put(memory("b", "I like chess", 600, before="What do you like?"), axis(1))
    assert ids(index.search(asking("marbles", axis(3), index))) == ["a"]


def test_the_one_who_is_named_comes_first_and_the_name_is_no_word(index: SearchIndex) -> None:
    index.put(memory("own", "I bought a guitar", 0, speaker="Julia"), axis(0))
    index.put(memory("to", "Hey Julia, a guitar is loud", 600, speaker="Tom"), axis(0))
    hits = index.search(asking("What guitar did Julia buy?", axis(0), index))
    assert ids(hits) == ["own", "to"]
    assert "speaker" in hits[0].why
    assert "speaker" not in hits[1].why


def test_a_span_of_time_prefers_what_happened_in_it(index: SearchIndex) -> None:
    days = 24 * 60
    for day in range(3):
        index.put(memory(f"day-{day}", "we did sums", day * days), axis(0))
    query = asking("sums", axis(0), index)
    hit = index.search(replace(query, ranges=((AT + timedelta(hours=12), AT + timedelta(hours=36)),)))[0]
    assert (hit.memory.id, "time" in hit.why) == ("day-1", True)


def test_of_equals_what_tells_more_comes_first_and_so_does_what_says_when(index: SearchIndex) -> None:
    """Put in so that the newer one, which would come first otherwise, is the plain one."""
    index.put(replace(memory("tells", "apples fell"), snr=800), axis(0))
    index.put(memory("little", "apples fell", 600), axis(0))
    index.put(memory("when", "pears fell yesterday", 1200), axis(1))
    index.put(memory("some time", "pears fell sweetly", 1800), axis(1))
    assert ids(index.search(asking("apples", axis(0), index))) == ["tells", "little"]
    hits = index.search(asking("pears", axis(1), index))
    assert ids(hits) == ["when", "some time"]
    assert ["dated" in hit.why for hit in hits] == [True, False]


def test_how_much_a_memory_tells_and_whether_it_says_when_finds_nothing_by_itself(index: SearchIndex) -> None:
    index.put(replace(memory("a", "Yesterday we moved to Berlin"), snr=1000), axis(0))
    assert index.search(asking("apples", axis(1), index)) == []


def test_many_hits_are_ordered_by_words_of_the_best_ones_too_and_few_are_not(index: SearchIndex) -> None:
    """Both answers hold no word of the question; the older one shares its rare word with the best memory."""
    day = 24 * 60
    index.put(memory("asked", "the ukulele arrived from Lisbon"), axis(0))
    index.put(memory("echo", "Lisbon glows every evening", 2 * day), axis(1))
    index.put(memory("plain", "Frost makes windows bloom", 4 * day), axis(1))
    query = asking("ukulele", np.array([0.8, 0.6, 0, 0], dtype=np.float32), index)
    assert ids(index.search(replace(query, limit=FEEDBACK_MIN_LIMIT))) == ["asked", "plain", "echo"]
    assert ids(index.search(replace(query, limit=FEEDBACK_MIN_LIMIT + 1))) == ["asked", "echo", "plain"]


def test_words_of_the_best_find_nothing_by_themselves(index: SearchIndex) -> None:
    index.put(memory("asked", "the ukulele arrived from Lisbon"), axis(0))
    index.put(memory("echo", "Lisbon is far", 2 * 24 * 60), axis(1))
    assert ids(index.search(replace(asking("ukulele", axis(0), index), limit=FEEDBACK_MIN_LIMIT + 1))) == ["asked"]


def test_only_what_is_valid_is_found(index: SearchIndex) -> None:
    day = 24 * 60
    index.put(replace(memory("ended", "my cat is grey"), invalid_at=AT + timedelta(days=10)), axis(0))
    index.put(replace(memory("replaced", "my cat is black"), reliability=Reliability.SUPERSEDED), axis(0))
    index.put(memory("later", "my cat is white", 20 * day), axis(0))
    query = asking("cat", axis(0), index)
    assert ids(index.search(query)) == ["later"]
    assert set(ids(index.search(replace(query, as_of=AT + timedelta(days=5))))) == {"ended", "replaced"}
    assert set(ids(index.search(replace(query, as_of=AT + timedelta(days=15))))) == {"replaced"}
    assert index.search(replace(query, as_of=AT - timedelta(days=1))) == []


def test_of_equals_the_newer_comes_first_and_the_limit_holds(index: SearchIndex) -> None:
    for day in range(5):
        index.put(memory(f"m{day}", "apples", day * 24 * 60), axis(0))
    query = asking("apples", axis(0), index)
    assert ids(index.search(replace(query, limit=2))) == ["m4", "m3"]
    assert index.search(replace(query, limit=0)) == []


@pytest.mark.parametrize("question", ["", "?!", "the of and", '"', "a OR b AND (", "NEAR(", "col:*", "\x00", "\ud800"])
def test_odd_questions_are_no_error(index: SearchIndex, question: str) -> None:
    index.put_many([memory(str(n), text, n) for n, text in enumerate(TEXTS)], axes([0] * len(TEXTS)))
    assert index.search(asking(question, axis(3), index)) == []
    assert SearchIndex(DIMENSION).search(asking(question, axis(3), index)) == []


@settings(deadline=None)
@given(st.text(max_size=60), st.text(max_size=60))
def test_any_text_can_be_put_in_asked_for_and_taken_out(text: str, question: str) -> None:
    index = SearchIndex(DIMENSION)
    index.put(memory("a", text, before=question, speaker=text), axis(0))
    assert len(index.search(asking(question, axis(0), index))) == 1
    index.remove(["a"])
    assert index.search(asking(question, axis(0), index)) == []


def test_a_very_long_question_is_searched_by_its_rarest_words(index: SearchIndex) -> None:
    words = [f"word{n}" for n in range(4000)]
    index.put_many([memory(str(n), f"{words[n]} common", n * 100) for n in range(300)], axes([0] * 300))
    hits = index.search(replace(asking("common " + " ".join(words), axis(3), index), limit=300))
    assert len(hits) == TERMS
    assert len(" ".join(words)) > 32_000


def test_languages_without_spaces_are_searched_by_character(index: SearchIndex) -> None:
    index.put(memory("a", "我不懂分数"), axis(0))
    assert ids(index.search(asking("分数", axis(3), index))) == ["a"]


def test_look_ups(index: SearchIndex) -> None:
    red = replace(memory("red", "my favourite is red"), slot_key="colour")
    blue = replace(memory("blue", "my favourite is blue", 5), slot_key="colour")
    index.put_many([blue, red, memory("c", "hello", 9)], axes([1, 0, 2]))
    assert index.of_slot("colour") == [red, blue]
    assert index.of_slot("shape") == []
    assert index.find("my favourite is red") == red
    assert index.find("green") is None
    assert ids_of(index.latest(2)) == ["c", "blue"]
    assert ids_of(index.latest(0)) == []
    assert index.get("red") == red
    assert index.get("x") is None
    assert index.vector("blue") is not None
    assert index.vector("x") is None
    assert [(near.id, cosine) for near, cosine in index.nearest(axis(1), 1)] == [("blue", 1.0)]


def ids_of(memories: list[Memory]) -> list[str]:
    return [found.id for found in memories]


def test_what_does_not_fit_is_refused(index: SearchIndex) -> None:
    with pytest.raises(InvalidInput, match="shape"):
        index.put(memory("a", "x"), np.zeros(3, dtype=np.float32))
    with pytest.raises(InvalidInput, match="sealed"):
        index.put(replace(memory("a", "x"), content=None), axis(0))
    with pytest.raises(InvalidInput, match="shape"):
        index.search(asking("x", np.zeros(3, dtype=np.float32), index))
    assert len(index) == 0

    assert index.search(asking("apples", axis(0), index)) == []


STEPS = st.lists(
    st.tuples(
        st.sampled_from("abcdef"),
        st.sampled_from([*TEXTS, None]),
        st.integers(0, 300),
        st.integers(0, DIMENSION - 1),
    ),
    max_size=25,
)


@settings(deadline=None, max_examples=60)
@given(STEPS, st.randoms(), st.sampled_from(["apples", "Bello football", "分数 12"]))
def test_the_index_does_not_remember_how_it_came_to_hold_what_it_holds(
    steps: list[tuple[str, str | None, int, int]], order: Random, question: str
) -> None:
    index, held = SearchIndex(DIMENSION), dict[str, tuple[Memory, int]]()
    for name, text, minutes, place in steps:
        if text is None:
            index.remove([name])
            held.pop(name, None)
        else:
            held[name] = (memory(name, text, minutes, before=TEXTS[place], speaker="Tom" if place else None), place)
            index.put(held[name][0], axis(place))
        index.search(asking(question, axis(0), index))  # so that what is derived has to be brought up to date
    entries = list(held.values())
    order.shuffle(entries)
    fresh = SearchIndex(DIMENSION)
    fresh.put_many([entry for entry, _ in entries], axes([place for _, place in entries]))
    for vector in map(axis, range(DIMENSION)):
        found, expected = (
            each.search(replace(asking(question, vector, each), limit=FEEDBACK_MIN_LIMIT + 1))
            for each in (index, fresh)
        )
        assert ids(found) == ids(expected)
        for hit, other in zip(found, expected, strict=True):
            assert hit.why == pytest.approx(other.why)
    assert index.latest(99) == fresh.latest(99)


def test_room_grows_with_the_memories(index: SearchIndex) -> None:
    for n in range(200):
        index.put(memory(f"m{n:03}", f"thing{n}", n * 100), axis(n))
    assert len(index) == 200
    assert ids(index.search(asking("thing7", axis(7), index)))[0] == "m007"
    assert ids(index.search(asking("thing199", axis(199), index)))[0] == "m199"
