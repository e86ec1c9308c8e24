"""What a question asks for, whoever it is about (spec 10)."""

import pytest

from graphmem.model import AskedFor
from graphmem.text.doc import with_pronoun
from graphmem.text.embedder import shipped_network
from graphmem.text.profile import load_profile_model


@pytest.mark.parametrize("name", ["Jordy", "Alejandra", "Luca Kim", "Mo"])
def test_what_is_asked_for_does_not_hang_on_the_name_of_the_student(name: str) -> None:
    question = with_pronoun(f"What does {name.split()[0]} still find hard?", name)
    (vector,) = shipped_network(1).encode([question])
    assert load_profile_model().of_question(vector)[0] is AskedFor.STRUGGLES
