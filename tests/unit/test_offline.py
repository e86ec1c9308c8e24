"""The offline mind as a whole: the bank, predictions, replies, with the shipped embedder."""

import json
import re
from collections.abc import AsyncIterator, Sequence
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

from graphmem.errors import InvalidInput, SetupError
from graphmem.language.encoder import Encoder
from graphmem.model import (
    Author,
    Companion,
    Conversation,
    Matrix,
    Message,
    Predict,
    Recalled,
    Remembered,
    Respond,
)
from graphmem.offline import exemplars as banks
from graphmem.offline.exemplars import Bank, Situation, load_bank, read_situations, save_vectors, situation_point
from graphmem.offline.mind import OfflineMind, make_offline_mind
from graphmem.offline.prediction import EXPECTED_CHARACTERS
from graphmem.ports import Embedder, Mind
from graphmem.samples import sample_dialogues
from graphmem.settings import Settings
from graphmem.text.embedder import make_embedder
from tests.support.memories import memory

AT = datetime(2026, 1, 15, 12, tzinfo=UTC)
ADA = Companion("Ada", "kind", 0.5)


class Counting:
    """An embedder that counts what it is asked for, on top of the shipped one."""

    def __init__(self, inner: Embedder) -> None:
        self.inner, self.name, self.dimension = inner, inner.name, inner.dimension
        self.texts: list[str] = []

    async def embed(self, texts: Sequence[str]) -> Matrix:
        self.texts += texts
        return await self.inner.embed(texts)

    async def aclose(self) -> None:
        await self.inner.aclose()


@pytest.fixture(scope="module")
async def embedder() -> AsyncIterator[Embedder]:
    embedder = make_embedder(Settings())
    yield embedder
    await embedder.aclose()


@pytest.fixture(scope="module")
async def reader() -> AsyncIterator[Encoder]:
    reader = Encoder()
    yield reader
    await reader.aclose()


@pytest.fixture(scope="module")
async def mind(embedder: Embedder, reader: Encoder) -> OfflineMind:
    return await make_offline_mind(embedder, reader)


async def talk(embedder: Embedder, *texts: str) -> Conversation:
    """A conversation with embeddings; companion and student speak in turn, the student last."""
    authors = [Author.STUDENT, Author.COMPANION] * len(texts)
    vectors = await embedder.embed(texts)
    said = zip(reversed(authors[: len(texts)]), texts, vectors, strict=True)
    return Conversation(ADA, tuple(Message(author, text, AT, vector) for author, text, vector in said))


def test_the_bank_has_real_situations_of_three_sources_and_none_of_the_demo() -> None:
    situations = read_situations()
    assert 1000 <= len(situations) <= 2500
    shown = {dialogue.id for dialogue in sample_dialogues()}
    assert not shown & {situation.dialogue_id for situation in situations}
    assert all(s.asked and s.answer for s in situations)
    assert not any(re.search(r"\bmariana\b", f"{s.asked} {s.before} {s.answer}", re.IGNORECASE) for s in situations)


@pytest.mark.parametrize("source", banks.SOURCES)
def test_the_bank_names_authors_and_licence(source: str) -> None:
    text = (banks.FOLDER / source / "ATTRIBUTION.md").read_text(encoding="utf-8")
    assert "Changes:" in text
    assert "icence" in text


async def test_vectors_of_the_bank_are_those_of_its_texts(mind: OfflineMind, embedder: Embedder) -> None:
    rows = [0, 700, 1500]
    kept = mind.bank
    chosen = [kept.situations[row] for row in rows]
    asked = await embedder.embed([s.asked for s in chosen])
    answers = await embedder.embed([s.answer for s in chosen])
    before = await embedder.embed([s.before for s in chosen]) * [[float(bool(s.before))] for s in chosen]
    points = situation_point(asked, before.astype(np.float32))
    np.testing.assert_allclose(np.sum(kept.answers[rows] * answers, axis=1), 1.0, atol=2e-3)
    np.testing.assert_allclose(np.sum(kept.points[rows] * points, axis=1), 1.0, atol=2e-3)


async def test_without_leaves_out_all_of_a_dialogue_and_nothing_else(mind: OfflineMind) -> None:
    left_out = {mind.bank.situations[0].dialogue_id, mind.bank.situations[-1].dialogue_id}
    rest = mind.bank.without(left_out)
    assert {s.dialogue_id for s in mind.bank.situations} - {s.dialogue_id for s in rest.situations} == left_out
    assert len(rest.situations) == len(rest.points) == len(rest.answers)
    row = mind.bank.situations.index(rest.situations[10])
    np.testing.assert_array_equal(rest.answers[10], mind.bank.answers[row])


async def test_another_embedders_vectors_are_not_used_but_made_anew(
    embedder: Embedder, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    situations = (Situation("d", "What is 3 + 4?", "", "7"), Situation("d", "Why?", "7", "I counted"))
    monkeypatch.setattr(banks, "FOLDER", tmp_path)
    for source in banks.SOURCES:
        lines = [json.dumps(asdict(s)) for s in situations] if source == "cima" else []
        (tmp_path / source).mkdir()
        (tmp_path / source / "situations.jsonl").write_text("\n".join(lines), encoding="utf-8")
    other = Counting(embedder)
    other.name = "onnx:another"
    upside_down = -np.eye(2, embedder.dimension, dtype=np.float32)
    save_vectors(Bank(situations, upside_down, upside_down), other)

    kept, counting = await load_bank(other), Counting(embedder)
    np.testing.assert_allclose(kept.answers, upside_down)
    assert other.texts == []
    made = await load_bank(counting)
    assert sorted(counting.texts) == ["7", "I counted", "What is 3 + 4?", "Why?"]
    np.testing.assert_allclose(made.answers, await embedder.embed(["7", "I counted"]), atol=1e-6)


async def test_vectors_that_do_not_fit_the_texts_are_refused(
    embedder: Embedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(banks, "checksum", lambda _: -1)
    with pytest.raises(SetupError, match=r"scripts\.train"):
        await load_bank(embedder)


def test_the_nearest_come_first_also_in_a_small_bank() -> None:
    unit = np.eye(3, dtype=np.float32)
    bank = Bank(tuple(Situation(str(i), "q", "", "a") for i in range(3)), unit, unit)
    rows, similarities = bank.nearest(np.array([0.6, 0.8, 0.0], dtype=np.float32), 5)
    assert list(rows) == [1, 0, 2]
    assert list(similarities) == pytest.approx([0.8, 0.6, 0.0])
    assert list(bank.nearest(unit[2], 1)[0]) == [2]


async def test_expectation_is_an_answer_of_others_or_none(mind: OfflineMind, embedder: Embedder) -> None:
    here = await talk(embedder, "Are you ready?", "ok")
    asked = Message(Author.COMPANION, "What is the area of the rectangle?", AT)
    expected = (await mind.ask(Respond(here, written=asked))).value.prediction
    assert expected.text in {s.answer for s in mind.bank.situations}
    assert float((await embedder.embed([expected.text]))[0] @ expected.embedding) > 0.99
    told = Message(Author.COMPANION, "The zebra sleeps in Portugal on Thursdays.", AT)
    assert (await mind.ask(Respond(here, written=told))).value.prediction.text == ""


async def test_expectation_is_no_message_of_the_talk(mind: OfflineMind, embedder: Embedder) -> None:
    steps = "Rikki writes 5 words a minute, so in 120 minutes he writes 600 words and earns 600 x 0.05 = $30."
    here = await talk(embedder, "Can you explain your solution?", steps)
    asked = Message(Author.COMPANION, "How many words does Rikki write in two hours?", AT)
    assert (await mind.ask(Respond(here, written=asked))).value.prediction.text not in {steps, asked.text}


async def test_expectation_from_memory_where_the_tutor_asks_for_it(mind: OfflineMind, embedder: Embedder) -> None:
    here = await talk(embedder, "Hello!", "hi")
    asked = Message(Author.COMPANION, "What is your dog called?", AT)
    known = Recalled(memory("dog", "my dog is called Bello"), 0.9, 0.9, ("dense 0.70",), similarity=0.7)
    assert (
        await mind.ask(Respond(here, Remembered(memories=(known,)), written=asked))
    ).value.prediction.text == "my dog is called Bello"


@pytest.mark.parametrize("text", ["What is a numerator?", "12", "it is so", "Я не понимаю дроби", "x" * 32_000])
async def test_needed_info_is_one_to_eight_keywords(text: str, mind: OfflineMind, embedder: Embedder) -> None:
    needed = (await mind.ask(Predict(await talk(embedder, "Shall we look at the spoons?", text)))).value.needed_info
    assert 1 <= len(needed) <= 8
    assert all(word.strip() for word in needed)


async def test_needed_info_names_what_both_spoke_of(mind: OfflineMind, embedder: Embedder) -> None:
    here = await talk(embedder, "How many spoons did Julia buy?", "Her husband gave her a package")
    needed = " ".join((await mind.ask(Predict(here))).value.needed_info)
    assert "husband" in needed
    assert "spoons" in needed


async def test_only_what_lacks_an_embedding_is_embedded(mind: OfflineMind, embedder: Embedder) -> None:
    counting = Counting(embedder)
    counted = OfflineMind(mind.bank, counting, mind.reader)
    here = await talk(embedder, "What is 3 + 4?", "I think 3 + 4 = 7")
    await counted.ask(Predict(here))
    assert counting.texts == []
    own = (await counted.ask(Respond(here))).value.reply
    assert counting.texts == []
    assert own.embedding is None
    given = replace(here.messages[0], text="Yes.")
    await counted.ask(Respond(here, written=given))
    assert counting.texts == []
    await counted.ask(Respond(here, written=replace(given, embedding=None)))
    assert counting.texts == ["Yes."]


async def test_after_an_apps_own_reply_nothing_is_streamed(mind: OfflineMind, embedder: Embedder) -> None:
    here = await talk(embedder, "hello")
    reply = Message(Author.COMPANION, "What <b>is</b> it?", AT)
    pieces: list[str] = []

    async def on_token(piece: str) -> None:
        pieces.append(piece)

    assert (await mind.ask(Respond(here, written=reply), on_token)).value.prediction.needed_info
    assert pieces == []


async def test_a_reply_is_streamed_word_by_word(mind: OfflineMind, embedder: Embedder) -> None:
    pieces: list[str] = []

    async def on_token(piece: str) -> None:
        pieces.append(piece)

    answered = await mind.ask(Respond(await talk(embedder, "hello")), on_token)
    assert "".join(pieces) == answered.value.reply.text
    assert len(pieces) == len(answered.value.reply.text.split())
    assert (answered.value.reply.author, answered.value.reply.at) == (Author.COMPANION, AT)


async def test_the_same_conversation_gets_the_same_answers(mind: OfflineMind, embedder: Embedder) -> None:
    here = await talk(embedder, "What do you get?", "I get 12 spoons")
    again = await make_offline_mind(embedder, mind.reader)
    assert await mind.ask(Predict(here)) == await again.ask(Predict(here))
    assert await mind.ask(Respond(here)) == await again.ask(Respond(here))


async def test_it_calls_itself_offline_costs_nothing_and_is_no_stand_in(mind: OfflineMind, embedder: Embedder) -> None:
    port: Mind = mind
    answer = await port.ask(Respond(await talk(embedder, "hello")))
    assert port.name == "offline"
    assert (answer.usage.calls, answer.usage.cost, answer.degraded) == (0, 0.0, False)


async def test_a_conversation_that_does_not_end_with_the_student_is_refused(mind: OfflineMind) -> None:
    for messages in ((), (Message(Author.COMPANION, "Hello", AT),)):
        with pytest.raises(InvalidInput):
            await mind.ask(Predict(Conversation(ADA, messages)))


@pytest.mark.parametrize(
    "text", ["word " * 6_400, "12 + 5 = 17. " * 2_400, "😀" * 32_000, "分" * 32_000, "<b>" * 10_000]
)
async def test_very_long_messages_get_short_answers(text: str, mind: OfflineMind, embedder: Embedder) -> None:
    here = await talk(embedder, "Well?", text[:32_000])
    answered = (await mind.ask(Respond(here))).value
    assert len(answered.reply.text) <= 600
    assert len(answered.prediction.text) <= EXPECTED_CHARACTERS
