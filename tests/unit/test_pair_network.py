"""Networks that read two texts together."""

from pathlib import Path

import pytest

from graphmem.errors import SetupError
from graphmem.text.contradiction import ANSWERING_FOLDER, ENDING_FOLDER
from graphmem.text.networks import PairNetwork, load_pair_network


@pytest.mark.parametrize("folder", [ANSWERING_FOLDER, ENDING_FOLDER])
def test_logit_is_the_same_every_time_and_heeds_the_order(folder: Path) -> None:
    network = load_pair_network(folder)
    pair = ("When is my maths test?", "The student has a maths test on 12 May 2027.")
    assert network.logit(*pair) == PairNetwork(folder).logit(*pair) != network.logit(*reversed(pair))


@pytest.mark.parametrize("text", ["", "\ud83d", "word " * 5000])
def test_logit_of_any_text(text: str) -> None:
    assert abs(load_pair_network(ANSWERING_FOLDER).logit(text, text)) < 100


def test_PairNetwork_damaged_file(tmp_path: Path) -> None:
    (tmp_path / "model.onnx").write_bytes((ANSWERING_FOLDER / "model.onnx").read_bytes()[:1000])
    with pytest.raises(SetupError, match="install graphmem again"):
        PairNetwork(tmp_path)
