"""Whom "he" and "she" stand for, where only one comes into question."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.text.antecedents import mentions, with_antecedents


@pytest.mark.parametrize(
    ("before", "clause", "named"),
    [
        ("My wife is a nurse.", "She works nights.", "My wife works nights."),
        ("My wife is a nurse.", "He works nights.", "He works nights."),
        ("Mum met my aunt Jo.", "I called her.", "I called her."),
        ("My bro kevo is at uni.", "I miss him and his jokes.", "I miss my bro and his jokes."),
        ("My name is Doug.", "Her name is Marlene.", "Her name is Marlene."),
        ("My cat Bo is ill.", "A new girl sits here. She is funny.", "A new girl sits here. She is funny."),
        ("My cat Bo is ill.", "Priya wants her own pair.", "Priya wants her own pair."),
        ("We have a goat called Simba.", "I like it.", "I like it."),
        ("I met Max in my dad's car.", "He drives.", "Max drives."),
        ("My dad's not well.", "He hardly talks.", "My dad hardly talks."),
        ("Ms Ferro is ill.", "I gave her a card.", "I gave Ms Ferro a card."),
        ("Ms Ferro is ill.", "I like her lessons.", "I like Ms Ferro's lessons."),
    ],
)
def test_a_pronoun_is_named_where_one_comes_into_question(before: str, clause: str, named: str) -> None:
    assert with_antecedents([clause], [before]) == [named]


def test_who_was_named_by_a_pronoun_goes_on_to_be_meant() -> None:
    told = with_antecedents(["My brother Max is 16.", "He drives.", "I envy him."])
    assert told[1:] == ["My brother Max drives.", "I envy my brother Max."]


@given(st.lists(st.text(alphabet="aehimrsSy '.", max_size=40), max_size=5), st.lists(st.text(max_size=40), max_size=2))
def test_every_clause_stays_and_nothing_is_named_by_nobody(clauses: list[str], before: list[str]) -> None:
    told = with_antecedents(clauses, before)
    assert len(told) == len(clauses)
    if not any(list(mentions(text)) for text in (*before, *clauses)):
        assert told == clauses
