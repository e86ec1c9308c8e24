"""Information of a text by its words alone."""

from hypothesis import given
from hypothesis import strategies as st

from graphmem.text.doc import information


@given(st.text(max_size=200))
def test_it_lies_between_nothing_and_one(text: str) -> None:
    assert 0.0 <= information(text) <= 1.0


def test_names_times_and_rare_words_tell_more_than_praise() -> None:
    praise = information("Wow, that is so great, well done!")
    assert praise < information("We walked along the river.") < information("Last May we walked along the Moldau.")


def test_a_question_tells_less_than_its_answer() -> None:
    assert information("Did you adopt a guinea pig?") < information("You did adopt a guinea pig.")
