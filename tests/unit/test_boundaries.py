"""Where episodes begin: what the scores promise, the plain methods, and the detector on odd and ordinary talks."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import accumulate
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.bench.scores import above_mean, depths, exact, metric_window, pk, windowdiff
from graphmem.errors import InvalidInput, SetupError
from graphmem.model import Author, Message
from graphmem.text.doc import Doc
from graphmem.text.embedder import Encode, ShippedNetwork
from graphmem.text.topic_boundaries import (
    SIGHT,
    TopicBoundaryModel,
    boundary_buckets,
    load_topic_boundaries,
    spoken_out,
)

START = datetime(2026, 1, 1, tzinfo=UTC)
SAID = [
    "Hi! How are you today?",
    "I'm fine, just back from a walk with my two dogs.",
    "Nice, what breed are your dogs?",
    "They are both border collies, they never get tired.",
    "Collies are clever dogs. Do they learn tricks?",
    "Yes, they learn a trick in a day.",
    "Great! What do you do for a living?",
    "I am a nurse at the children's hospital.",
    "Is working at a hospital hard?",
    "The nights are, but the children are lovely.",
    "By the way, do you like country music?",
    "I do, I go to country concerts every summer.",
]
SHIFTS = {6, 10}


@st.composite
def segmentations(draw: st.DrawFn) -> tuple[list[int], list[int]]:
    size = draw(st.integers(1, 40))
    both = st.lists(st.integers(0, 1), min_size=size, max_size=size)
    return draw(both), draw(both)


@pytest.fixture(scope="module")
def episodes() -> TopicBoundaryModel:
    return load_topic_boundaries()


@pytest.fixture(scope="module")
def encode() -> Encode:
    return ShippedNetwork(1).encode


@pytest.fixture(scope="module")
def talk(encode: Encode) -> list[Message]:
    return talk_of(SAID, encode)


def talk_of(texts: Sequence[str], encode: Encode | None = None, gap: float = 20.0) -> list[Message]:
    authors = [Author.STUDENT, Author.COMPANION]
    return [
        Message(authors[i % 2], text, START + timedelta(seconds=gap * i), None if encode is None else encode([text])[0])
        for i, text in enumerate(texts)
    ]


@given(segmentations())
def test_scores_stay_within_bounds_and_a_perfect_guess_is_perfect(pair: tuple[list[int], list[int]]) -> None:
    gold, found = pair
    assert 0 <= pk(gold, found) <= windowdiff(gold, found) <= 1
    assert pk(gold, gold) == windowdiff(gold, gold) == 0
    assert exact([gold], [gold])[2] == float(any(gold[1:]))
    assert all(0 <= value <= 1 for value in exact([gold], [found]))


@given(segmentations())
def test_the_first_turn_is_not_looked_at(pair: tuple[list[int], list[int]]) -> None:
    gold, found = pair
    for score in (pk, windowdiff, lambda g, f: exact([g], [f])):
        assert score([0, *gold[1:]], found) == score([1, *gold[1:]], [1 - found[0], *found[1:]])


@given(segmentations())
def test_scores_are_what_counting_turn_by_turn_gives(pair: tuple[list[int], list[int]]) -> None:
    gold, found = pair
    size = metric_window(gold)
    spans = [range(i + 1, i + size + 1) for i in range(len(gold) - size)]
    counts = [(sum(gold[j] for j in span), sum(found[j] for j in span)) for span in spans]
    if counts:
        assert pk(gold, found) == pytest.approx(sum((a > 0) != (b > 0) for a, b in counts) / len(counts))
        assert windowdiff(gold, found) == pytest.approx(sum(a != b for a, b in counts) / len(counts))


@given(segmentations(), segmentations())
def test_talks_are_counted_together(one: tuple[list[int], list[int]], two: tuple[list[int], list[int]]) -> None:
    apart = exact([one[0], two[0]], [one[1], two[1]])
    assert apart == exact([[*one[0], 0, *two[0][1:]]], [[*one[1], 0, *two[1][1:]]])


def test_a_near_miss_is_forgiven_by_pk_but_not_by_exact_f1() -> None:
    gold, near, far = (np.eye(20, dtype=np.int64)[place] for place in (10, 11, 18))
    assert exact([gold], [near])[2] == 0
    assert 0 < pk(gold, near) < pk(gold, far)


def test_guesses_of_another_length_are_refused() -> None:
    for score in (pk, windowdiff, lambda g, f: exact([g], [f])):
        with pytest.raises(InvalidInput, match="3 turns cannot be compared"):
            score([0, 1, 0], [0, 1])
    with pytest.raises(InvalidInput, match="1 talks cannot"):
        exact([[0]], [])


@given(st.integers(0, 12), st.integers(0, 2**32 - 1))
def test_plain_methods_find_no_boundary_with_the_first_turn(turns: int, seed: int) -> None:
    vectors = np.random.default_rng(seed).normal(size=(turns, 4)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    signal = depths(vectors)
    found = above_mean(signal, -9.0)
    assert signal.shape == found.shape == (turns,)
    assert (signal >= -1e-6).all()
    assert not found[:1].any()


def test_plain_methods_find_where_two_topics_meet() -> None:
    vectors = np.repeat(np.eye(2, dtype=np.float32), 4, axis=0)
    assert np.flatnonzero(above_mean(depths(vectors), 2.0)).tolist() == [4]


@pytest.mark.parametrize("ahead", [False, True])
def test_a_plain_change_of_subject_begins_an_episode(
    episodes: TopicBoundaryModel, talk: list[Message], ahead: bool
) -> None:
    starts = set(np.flatnonzero(episodes.starts(talk, ahead=ahead)[1:]) + 1)
    assert starts >= SHIFTS
    assert len(starts - SHIFTS) <= 1


@pytest.mark.parametrize("ahead", [False, True])
def test_without_vectors_the_words_still_tell(episodes: TopicBoundaryModel, ahead: bool) -> None:
    judged = episodes.probabilities(talk_of(SAID), ahead=ahead)
    rest = [p for i, p in enumerate(judged) if i > 0 and i not in SHIFTS]
    assert min(judged[i] for i in SHIFTS) > np.mean(rest)


def test_the_same_talk_is_judged_the_same(episodes: TopicBoundaryModel, talk: list[Message]) -> None:
    for ahead in (False, True):
        first = episodes.probabilities(talk, ahead=ahead)
        assert (first == load_topic_boundaries().probabilities(talk, ahead=ahead)).all()


def test_online_nobody_looks_ahead_and_the_last_nine_messages_are_enough(
    episodes: TopicBoundaryModel, talk: list[Message]
) -> None:
    whole = episodes.probabilities(talk, ahead=False)
    for end in range(1, len(talk) + 1):
        assert episodes.probabilities(talk[:end], ahead=False) == pytest.approx(whole[:end])
    for end in range(SIGHT + 1, len(talk) + 1):
        assert episodes.probabilities(talk[end - SIGHT - 1 : end], ahead=False)[-1] == pytest.approx(whole[end - 1])


def test_the_newest_message_is_judged_as_in_the_whole_talk(episodes: TopicBoundaryModel, talk: list[Message]) -> None:
    parted = [*talk[:9], *(replace(m, at=m.at + timedelta(hours=2)) for m in talk[9:])]
    for messages in (talk, talk_of(SAID), parted):
        starts = [episodes.newest_starts(messages[:end]) for end in range(1, len(messages) + 1)]
        assert starts == episodes.starts(messages, ahead=False).tolist()
        assert 2 < sum(starts) < len(starts)
    with pytest.raises(InvalidInput, match="at least one"):
        episodes.newest_starts([])


def test_looking_ahead_means_one_turn_and_the_newest_is_judged_online(
    episodes: TopicBoundaryModel, talk: list[Message]
) -> None:
    whole = episodes.probabilities(talk, ahead=True)
    for end in range(2, len(talk)):
        part = episodes.probabilities(talk[:end], ahead=True)
        assert part[:-1] == pytest.approx(whole[: end - 1])
        assert part[-1] == pytest.approx(episodes.probabilities(talk[:end], ahead=False)[-1])
    assert np.abs(whole[1:-1] - episodes.probabilities(talk, ahead=False)[1:-1]).max() > 0.01


def test_no_message_one_message(episodes: TopicBoundaryModel, talk: list[Message]) -> None:
    for ahead in (False, True):
        assert episodes.probabilities([], ahead=ahead).shape == (0,)
        assert episodes.starts([], ahead=ahead).shape == (0,)
        assert episodes.probabilities(talk[:1], ahead=ahead).tolist() == [1.0]
        assert episodes.starts(talk[:1], ahead=ahead).tolist() == [True]


@pytest.mark.parametrize("ahead", [False, True])
def test_after_an_hour_an_episode_begins_and_what_came_before_is_not_looked_at(
    episodes: TopicBoundaryModel, talk: list[Message], ahead: bool
) -> None:
    for seconds, begins in ((3599, False), (3600, True)):
        later = timedelta(seconds=seconds) - timedelta(seconds=20)
        parted = [*talk[:4], *(replace(m, at=m.at + later) for m in talk[4:])]
        judged = episodes.probabilities(parted, ahead=ahead)
        assert (judged[4] == 1.0) == begins
        if begins:
            apart = [episodes.probabilities(part, ahead=ahead) for part in (talk[:4], talk[4:])]
            assert judged == pytest.approx(np.concatenate(apart))


@given(st.lists(st.text(max_size=60), max_size=12), st.integers(0, 2**32 - 1), st.booleans())
def test_any_talk_is_judged_within_bounds(
    episodes: TopicBoundaryModel, texts: list[str], seed: int, ahead: bool
) -> None:
    vectors = np.random.default_rng(seed).normal(size=(len(texts), 384)).astype(np.float32) * 100
    for messages in (
        talk_of(texts),
        [replace(m, embedding=v) for m, v in zip(talk_of(texts), vectors, strict=True)],
        talk_of(texts, gap=1800.0),
    ):
        judged = episodes.probabilities(messages, ahead=ahead)
        assert ((judged >= 0) & (judged <= 1)).all()
        assert (judged[:1] == 1).all()


def test_vectors_of_another_model_are_refused(episodes: TopicBoundaryModel) -> None:
    other = [replace(m, embedding=np.ones(768, dtype=np.float32)) for m in talk_of(SAID)]
    with pytest.raises(InvalidInput, match="leave the embeddings out"):
        episodes.probabilities(other, ahead=True)


def test_one_missing_vector_leaves_the_words(episodes: TopicBoundaryModel, talk: list[Message]) -> None:
    mixed = [replace(talk[0], embedding=None), *talk[1:]]
    assert (episodes.probabilities(mixed, ahead=True) == episodes.probabilities(talk_of(SAID), ahead=True)).all()


def _buckets(text: str) -> set[int]:
    return set(boundary_buckets(spoken_out(Doc(text))))


def test_words_are_read_alike_however_they_are_written() -> None:
    assert _buckets("I'm sure you don’t.") == _buckets("i am sure you do not .")
    runs = list(accumulate(["by", "the", "way"], lambda a, b: f"{a} {b}"))
    assert all(_buckets(run) <= _buckets("By the way, hello") for run in runs)


def test_weights_damaged_or_missing(tmp_path: Path) -> None:
    damaged = tmp_path / "boundaries.npz"
    damaged.write_bytes(b"PK\x03\x04 not really")
    for path in (damaged, tmp_path / "missing.npz"):
        with pytest.raises(SetupError, match="install graphmem again"):
            load_topic_boundaries(path)
    np.savez(damaged, other=np.zeros(3))
    with pytest.raises(SetupError, match="install graphmem again"):
        load_topic_boundaries(damaged)
