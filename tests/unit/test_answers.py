"""Answers of a few words, and the question they answer."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.model import Heard
from graphmem.offline.extraction import extract
from graphmem.text.answers import as_statement, asked_slot, stated_answer, with_mine_named
from graphmem.text.normalize import straightened
from graphmem.text.second_person import to_first_person

AT = datetime(2026, 1, 5, tzinfo=UTC)
QUESTIONS = ("How old are you?", "Where do you live?", "What is your favourite food?", "Do you have any pets?", "You?")


@pytest.mark.parametrize(
    ("question", "answer", "statement"),
    [
        ("Hello! Where are you from?", "arizona.", "I am from arizona"),
        ("so where do you live ?", "near the harbour", "I live near the harbour"),
        ("How old are you?", "12", "I am 12"),
        ("What grade are you in?", "seventh grade", "I am in seventh grade"),
        ("What's your favourite subject?", "art and history", "My favourite subject is art and history"),
        ("What are your hobbies?", "chess, and drawing", "My hobbies are chess, and drawing"),
        ("How old are your sisters?", "3 and 5", "My sisters are 3 and 5"),
        ("How many cats do you have?", "three", "I have three cats"),
        ("Do you have any brothers?", "two, both older", "I have two, both older"),
        ("what do you do for a living ?", "a baker", "I am a baker"),
        ("what do you do for a living ?", "baker", "I work as a baker"),
        ("what do you do for work?", "electrical engineer", "I work as an electrical engineer"),
        ("what do you do for work?", "construction", "I work in construction"),
        ("What kind of music do you like?", "jazz mostly", "I like jazz mostly"),
        ("What are you afraid of?", "spiders", "I am afraid of spiders"),
        ("What are you doing?", "just baking a cake", "I am just baking a cake"),
    ],
)
def test_an_answer_is_said_by_the_words_of_its_question(question: str, answer: str, statement: str) -> None:
    assert as_statement(question, answer) == statement


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("How are you?", "tired"),
        ("Where do you live?", "why do you ask?"),
        ("Where do you live?", "i moved last year"),
        ("Where do you live?", "that is a secret"),
        ("Do you have any pets?", "no pets"),
        ("Do you have any pets?", "her name is Bella"),
        ("What is 3 times 4?", "twelve"),
        ("What do you mean?", "the other triangle"),
        ("What is your degree in?", "finance"),
        ("What is your favourite food?", "never mind"),
        ("", "manhattan"),
    ],
)
def test_what_is_no_such_answer_is_left_alone(question: str, answer: str) -> None:
    assert as_statement(question, answer) == ""


@pytest.mark.parametrize(
    ("question", "told", "statement"),
    [
        ("What is your favourite food?", "mine is papaya", "My favourite food is papaya"),
        ("what's your dog called ?", "Mine's Rex", "My dog is Rex"),
        ("do you have a favourite colour?", "mine is green", "My favourite colour is green"),
        ("Do you have any pets?", "mine are called Bo and Mo", "My pets are called Bo and Mo"),
        ("is your house big?", "mine is small", "My house is small"),
        ("Is your best friend nice?", "mine is kind", ""),
        ("How are you?", "mine is fine", ""),
        ("What is your name?", "it is mine", ""),
        ("", "mine is papaya", ""),
    ],
)
def test_what_is_mine_is_named_by_the_question_before_it(question: str, told: str, statement: str) -> None:
    assert with_mine_named(question, told) == statement


@given(st.sampled_from(QUESTIONS), st.text(max_size=60))
def test_a_statement_holds_its_whole_answer_and_is_said_by_the_student(question: str, answer: str) -> None:
    statement = as_statement(question, answer)
    assert statement in ("", with_mine_named(question, answer)) or (
        statement.startswith(("I ", "My ")) and straightened(answer).strip(" \t\n.!,;") in statement
    )


@pytest.mark.parametrize(("filling", "told"), [(" ", True), ("a", True), ("\n", True), ("- ", False), ("so ", False)])
def test_the_longest_answers_are_taken(filling: str, told: bool) -> None:
    # Searched from each of its places, such a row would take hours.
    statement = as_statement("Where do you live?", f"Pa{filling * 400_000}ris")
    assert statement.startswith("I live in Pa") is told


def test_at_work_on_a_task_an_answer_is_a_step() -> None:
    heard = Heard("two groups", AT, before="How many groups do you have?", task="Split 8 apples into groups of 4.")
    assert stated_answer(heard) == ""


@pytest.mark.parametrize(
    ("question", "slot"),
    [
        ("Where do I live?", "self home"),
        ("How old am I?", "self age"),
        ("what grade am i in", "self grade"),
        ("What is my favorite colour?", "self favourite colour"),
        ("Where do I work?", "self job"),
        ("Where do you live?", "self home"),
        ("What did I say?", None),
        ("Why is the sky blue?", None),
    ],
)
def test_the_attribute_that_is_asked_for(question: str, slot: str | None) -> None:
    assert asked_slot(question) == slot


def test_what_is_said_of_the_student_is_said_by_the_student() -> None:
    assert to_first_person("The student has a dog and the student's dog barks") == "I have a dog and my dog barks"


def test_an_answer_is_remembered_as_what_it_says_with_the_words_it_was_said_in() -> None:
    heard = Heard("Yes, two brothers and a sister!", AT, before="Do you have siblings?", student="Sam")
    (memory,) = extract(heard).memories
    assert memory.content == "Sam has two brothers and a sister."
    assert heard.text[memory.start : memory.end] == heard.text
    assert memory.slot == "self siblings"
    assert extract(Heard("Yes, two brothers and a sister!", AT, student="Sam")).memories == ()
