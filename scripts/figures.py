"""Write docs/figures.md from the figures beside the weights and the runs of benchmarks in docs/figures/.

python scripts/figures.py                     write the page
python scripts/figures.py NAME [FILE]         run a benchmark, keep its figures with date and commit, write the page
"""

import json
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from graphmem.bench import BENCHMARKS, run_benchmark
from graphmem.settings import Settings

ROOT = Path(__file__).parents[1]
RUNS, PAGE = ROOT / "docs" / "figures", ROOT / "docs" / "figures.md"
WEIGHTS = ROOT / "graphmem"
NOT_FIGURES = {"tokenizer.json", "variants.json", "sense.json"}
HEAD = """# Figures

Written by `scripts/figures.py`: runs of benchmarks, then what was measured when each model was trained, on rows that
it was not trained on. Milliseconds are of one run on shared cores; ratios hold better.
"""


def page() -> str:
    """Return the page: a table for each run and each model."""
    parts = [HEAD]
    for path in sorted(RUNS.glob("*.json"), key=lambda path: list(BENCHMARKS).index(path.stem)):
        kept = json.loads(path.read_text("utf-8"))
        parts.append(_table(f"{path.stem}: {BENCHMARKS[path.stem].measures}", kept["of"], kept["result"]))
    for path in sorted(WEIGHTS.rglob("weights/*/*.json")):
        if path.name not in NOT_FIGURES:
            changed = _git("log", "-1", "--format=%cs, commit %h", "--", str(path))
            figures = json.loads(path.read_text("utf-8"))
            parts.append(_table(f"Model `{path.parent.name}` ({path.name})", changed, figures))
    parts += ["\n" + path.read_text("utf-8") for path in sorted(RUNS.glob("*.md"), reverse=True)]
    return "\n".join(parts)


def run(name: str, file: Path | None) -> None:
    """Run a benchmark and keep its figures."""
    figures = run_benchmark(name, Settings(), file)
    data = file.name if file else "the shipped sample"
    of = f"{datetime.now(UTC):%Y-%m-%d}, commit {_git('rev-parse', '--short', 'HEAD')}, {data}"
    RUNS.mkdir(exist_ok=True)
    kept = {"of": of, "result": {key: round(value, 4) for key, value in figures.items()}}
    (RUNS / f"{name}.json").write_text(json.dumps(kept, indent=1) + "\n", "utf-8")


def _table(title: str, of: str, figures: dict[str, Any]) -> str:
    rows = "".join(f"| {key} | {value} |\n" for key, value in _flat("", figures))
    return f"\n## {title}\n\n{of}\n\n| figure | value |\n|---|---|\n{rows}"


def _flat(before: str, figures: dict[str, Any]) -> Iterator[tuple[str, object]]:
    for key, value in figures.items():
        if isinstance(value, dict):
            yield from _flat(f"{before}{key}: ", value)
        elif isinstance(value, int | float | str):
            yield f"{before}{key}", value


def _git(*arguments: str) -> str:
    return subprocess.run(
        ["git", "-C", str(ROOT), *arguments], capture_output=True, text=True, check=True
    ).stdout.strip()


if __name__ == "__main__":
    if len(sys.argv) > 1:
        run(sys.argv[1], Path(sys.argv[2]) if len(sys.argv) > 2 else None)
    PAGE.write_text(page(), "utf-8")
