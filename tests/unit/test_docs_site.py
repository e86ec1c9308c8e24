"""The site of the documents: built strictly, so that every link and heading is there; nothing comes from elsewhere."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built site."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--site-dir", str(folder)]
    built = subprocess.run(command, cwd=ROOT, check=False, capture_output=True, text=True)
    assert built.returncode == 0, built.stderr
    return folder


def test_every_document_is_a_page(site: Path) -> None:
    pages = {path.relative_to(ROOT).with_suffix("") for path in (ROOT / "docs").glob("*.md")}
    assert {page for page in pages if not (site / page / "index.html").exists()} == set()
    assert "lines to the first memory" in (site / "index.html").read_text("utf-8")


def test_every_link_and_picture_leads_to_a_file_of_the_site(site: Path) -> None:
    """Links of HTML as well, which mkdocs itself does not look at."""
    for page in site.rglob("*.html"):
        for link in re.findall(r'(?:href|src)="?([^"# >]+)', page.read_text("utf-8")):
            # Code shows requests, and the address that the server has on one's own machine.
            if not re.match(r"[a-z]+:|\{|/", link):
                assert (page.parent / link).exists(), (page.relative_to(site), link)


def test_pages_load_nothing_from_elsewhere(site: Path) -> None:
    loaded = re.compile(r"""<(?:script|img|link)[^>]*(?:src|href)=["']?(?:https?:)?//""")
    assert [page for page in site.rglob("*.html") if loaded.search(page.read_text("utf-8"))] == []
