"""Writes docs/settings.md, or with --check only tells whether it is up to date."""

import sys
from pathlib import Path

from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from graphmem.settings import Settings

PAGE = Path(__file__).parents[1] / "docs" / "settings.md"
HEAD = """# Settings

Environment variables, each `GRAPHMEM_` and the name. Written by `scripts/settings_table.py`.

| name | default | meaning |
|---|---|---|
"""


def page() -> str:
    """Return every setting with its default and meaning, as a Markdown page."""
    rows = [
        f"| `{name.upper()}` | {_default(name, field)} | {' '.join((field.description or '').split())} |"
        for name, field in Settings.model_fields.items()
    ]
    return HEAD + "\n".join(rows) + "\n"


def _default(name: str, field: FieldInfo) -> str:
    if name == "home":
        return "the user's data folder"
    if field.default is None or field.default is PydanticUndefined:
        return "unset"
    if isinstance(field.default, bool):
        return f"`{field.default}`".lower()
    return f"{field.default:,}" if isinstance(field.default, int | float) else f"`{field.default}`"


if __name__ == "__main__":
    if "--check" in sys.argv:
        is_current = PAGE.exists() and PAGE.read_text("utf-8") == page()
        sys.exit(0 if is_current else "docs/settings.md is out of date: run scripts/settings_table.py")
    PAGE.write_text(page(), "utf-8")
