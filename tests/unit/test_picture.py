"""The style sheet of Neo4j Browser: every label of the graph has its own look, and Browser can read it."""

import re
from pathlib import Path

import cypher

STYLE = Path(cypher.__path__[0]) / "browser" / "style.grass"
LABELS = ["Student", "Companion", "Turn", "Fact", "Source", "OpenSession", "Job", "Memory", "LedgerEntry", "Concept"]


def rules() -> dict[str, str]:
    return dict(re.findall(r"([\w.]+) \{\n(.*?)\n\}", STYLE.read_text("utf-8"), re.DOTALL))


def test_every_label_has_a_size_colours_and_a_caption() -> None:
    for label in LABELS:
        found = rules()[f"node.{label}"]
        assert all(f"  {name}:" in found for name in ("diameter", "color", "text-color-internal", "caption")), label


def test_memory_comes_before_its_kinds_since_the_last_rule_that_fits_wins() -> None:
    order = list(rules())
    kinds = ["Episodic", "Semantic", "Procedural", "Emotional", "Sensory"]
    assert all(order.index("node.Memory") < order.index(f"node.{kind}") for kind in kinds)


def test_captions_show_nothing_that_is_sealed() -> None:
    captions = re.findall(r'aption: "([^"]*)"', STYLE.read_text("utf-8"))
    assert {name for caption in captions for name in re.findall(r"\{(\w+)\}", caption)} <= {
        "id",
        "seq",
        "kind",
        "category",
    }
