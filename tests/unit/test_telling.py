"""How much a message tells by its words alone."""

from hypothesis import given
from hypothesis import strategies as st

from graphmem.text.doc import Doc
from graphmem.text.telling import telling


@given(st.text(max_size=200))
def test_it_lies_between_nothing_and_one(text: str) -> None:
    assert 0.0 <= telling(Doc(text)) < 1.0 or telling(Doc(text)) == 1.0


def test_names_times_and_rare_words_tell_more_than_praise() -> None:
    praise = telling(Doc("Wow, that is so great, well done!"))
    assert praise < telling(Doc("We walked along the river.")) < telling(Doc("Last May we walked along the Moldau."))


def test_a_question_tells_less_than_its_answer() -> None:
    assert telling(Doc("Did you adopt a guinea pig?")) < telling(Doc("You did adopt a guinea pig."))
