"""Hook of mkdocs: the site has the paths of the repository, so that every link holds in both.

Beside docs/ it takes in the pages and files that these link to.
"""

import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parents[1]
LINK = re.compile(r"\]\(([^)#:\s]+)")
NAMED = re.compile(r"^(```\w+) \w+$", re.MULTILINE)
"""A block of code with a name, by which tests find it; the site's parser knows none."""


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Called by mkdocs with the files of docs/; returns them, and what they link to, under their paths."""
    paths = {ROOT / "docs" / each.src_uri for each in files if each.abs_src_path}
    waiting = [ROOT / "README.md", ROOT / "CHANGELOG.md", *paths]
    found: dict[str, Path] = {}
    while waiting:
        path = waiting.pop()
        name = path.relative_to(ROOT).as_posix()
        if name in found or not path.is_file():
            continue
        found[name] = path
        if path.suffix == ".md":
            waiting += [(path.parent / link).resolve() for link in LINK.findall(path.read_text("utf-8"))]
    theme = [each for each in files if not (ROOT / "docs" / each.src_uri).is_file()]
    return Files([*theme, *(File.generated(config, name, abs_src_path=str(path)) for name, path in found.items())])


def on_page_markdown(markdown: str, **_: object) -> str:
    """Called by mkdocs with the text of each page."""
    return NAMED.sub(r"\1", markdown)
