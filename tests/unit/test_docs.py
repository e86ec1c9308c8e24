"""The documents say what is so."""

import re
import subprocess
import sys
from pathlib import Path

from typer.main import get_command

from graphmem.cli import app
from graphmem.errors import Refusal, Unavailable
from graphmem.settings import Settings

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text("utf-8")


def test_the_table_of_settings_is_up_to_date() -> None:
    checked = subprocess.run([sys.executable, ROOT / "scripts" / "settings_table.py", "--check"], check=False)
    assert checked.returncode == 0


def test_every_setting_says_what_it_means() -> None:
    assert all(field.description for field in Settings.model_fields.values())


def test_every_error_code_is_in_the_readme() -> None:
    codes = {e.code for e in Refusal.__subclasses__()} | {Unavailable.code, "INTERNAL"}
    assert all(f"`{code}`" in README for code in codes)


def test_every_command_the_documents_name_is_there() -> None:
    commands = get_command(app).commands  # type: ignore[attr-defined]
    for document in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md"):
        named = set(re.findall(r"`graphmem ([a-z]+)", (ROOT / document).read_text("utf-8")))
        assert named <= set(commands), document


def test_every_make_target_the_documents_name_is_there() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    for document in ("README.md", "CONTRIBUTING.md"):
        named = set(re.findall(r"`?make ([a-z-]+)`", (ROOT / document).read_text("utf-8")))
        assert named <= targets, document


def test_every_file_the_documents_name_is_there() -> None:
    for document in ("README.md", "CONTRIBUTING.md"):
        text = (ROOT / document).read_text("utf-8")
        for path in re.findall(r"`((?:graphmem|api|cypher|scripts|bench|docs)/[\w./-]*)`|\]\(([\w./-]+)\)", text):
            assert (ROOT / "".join(path)).exists(), path
