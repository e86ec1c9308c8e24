"""Environment variables that look like settings and are none are named, with the closest setting."""

import os
import subprocess
import sys

import pytest

from graphmem.settings import Settings, misspelt


def test_every_setting_is_known_by_its_name() -> None:
    names = [f"GRAPHMEM_{name.upper()}" for name in Settings.model_fields]
    assert misspelt([*names, *map(str.lower, names), "GRAPHMEM_TEST_NEO4J_URI", "PATH"]) == {}


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("GRAPHMEM_MODLE", "GRAPHMEM_MODEL"),
        ("GRAPHMEM_NEO4JURI", "GRAPHMEM_NEO4J_URI"),
        ("GRAPHMEM_MODEL_BASEURL", "GRAPHMEM_MODEL_BASE_URL"),
        ("GRAPHMEM_XYZZY", None),
    ],
)
def test_a_misspelt_variable_is_told_with_the_closest_name(name: str, meant: str | None) -> None:
    assert misspelt([name]) == {name: meant}


def test_a_misspelt_variable_is_named_at_start() -> None:
    environment = {**os.environ, "GRAPHMEM_MODLE": "openai:stub"}
    told = subprocess.run(
        [sys.executable, "-m", "graphmem", "--help"], capture_output=True, text=True, check=True, env=environment
    )
    assert "there is no setting GRAPHMEM_MODLE: did you mean GRAPHMEM_MODEL?" in told.stderr
    assert "openai:stub" not in told.stderr
