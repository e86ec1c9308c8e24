"""The documents say what is so."""

import re
import subprocess
import sys
from pathlib import Path

from graphql import GraphQLObjectType, build_schema
from typer.main import get_command

from graphmem import metrics
from graphmem.cli import app
from graphmem.commands.memories import read_observations
from graphmem.errors import Refusal, Unavailable
from graphmem.flows.overlay import FADED_RECALL, MASTERY_DOWN, MASTERY_UP, SCHEDULER
from graphmem.model import EdgeType, Modality, SourceKind
from graphmem.samples.dialogues import dialogue_turns, load_dialogues
from graphmem.settings import Settings
from graphmem.store import schema
from graphmem.store.memories import label_of

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text("utf-8")
DOCS = {path.name: path.read_text("utf-8") for path in sorted((ROOT / "docs").glob("*.md"))}
CYPHER = {
    str(path.relative_to(ROOT)): re.sub(r"//[^\n]*|'[^']*'", "", path.read_text("utf-8"))
    for path in (ROOT / "cypher").rglob("*.cypher")
    if path.parent.name != "bench"
}
SECTIONS = r"\d+(?:\.\d+)?"


def test_the_table_of_settings_is_up_to_date() -> None:
    checked = subprocess.run([sys.executable, ROOT / "scripts" / "settings_table.py", "--check"], check=False)
    assert checked.returncode == 0


def test_every_setting_says_what_it_means() -> None:
    assert all(field.description for field in Settings.model_fields.values())


def test_the_parameters_of_familiarity_are_those_the_document_says() -> None:
    rows = re.findall(r"^\| [^|]+ \| ([\d., ]+) \|$", DOCS["world.md"], re.MULTILINE)
    told = [float(value) for row in rows for value in row.split(",")]
    mastery = [MASTERY_UP, MASTERY_DOWN, FADED_RECALL]
    assert told == [*SCHEDULER.parameters, SCHEDULER.desired_retention, *mastery]


def test_every_error_code_is_in_the_docs() -> None:
    codes = {e.code for e in Refusal.__subclasses__()} | {Unavailable.code, "INTERNAL"}
    assert all(f"`{code}`" in DOCS["access.md"] for code in codes)


def test_every_command_the_documents_name_is_there() -> None:
    commands = get_command(app).commands  # type: ignore[attr-defined]
    for document in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", *(f"docs/{name}" for name in DOCS)):
        named = set(re.findall(r"`graphmem ([a-z][a-z-]*)", (ROOT / document).read_text("utf-8")))
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


def anchors(text: str) -> set[str]:
    """The anchors of a document's headings, as renderers of Markdown make them."""
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading).strip().lower().replace(" ", "-") for heading in headings}


def test_every_link_of_the_docs_leads_to_a_file_and_a_heading() -> None:
    for name, text in DOCS.items():
        for path, anchor in re.findall(r"\]\(([\w./-]*)(?:#([\w-]+))?\)", text):
            target = (ROOT / "docs" / path).resolve() if path else ROOT / "docs" / name
            assert target.exists(), (name, path)
            assert not anchor or anchor in anchors(target.read_text("utf-8")), (name, path, anchor)


def test_every_setting_the_docs_name_is_there() -> None:
    known = {name.upper() for name in Settings.model_fields}
    for name in ("operations.md", "security.md", "formats.md", "analysts.md"):
        named = re.findall(r"`([A-Z0-9]+(?:_[A-Z0-9]+)+)(?:=[^`]*)?`", DOCS[name])
        assert {each.removeprefix("GRAPHMEM_") for each in named} <= known, name


def test_the_specification_has_twenty_sections_in_order() -> None:
    assert re.findall(r"^## (\d+)\. \w", DOCS["spec.md"], re.MULTILINE) == [str(n) for n in range(1, 21)]


def cited(text: str) -> set[str]:
    """The sections of the specification that a text refers to, such as `spec 4` or `spec 10.1, 12`."""
    lists = re.findall(rf"\b[Ss]pec ({SECTIONS}(?:(?:,| and| to) {SECTIONS})*)", text)
    return {section for each in lists for section in re.findall(SECTIONS, each)}


def test_references_to_the_specification_are_recognised() -> None:
    assert cited("Source: spec 2, 10.1 and 12; 3 more. (spec 4 to 6) Spec 7.") == {"2", "10.1", "12", "4", "6", "7"}


def test_every_section_that_is_cited_has_its_heading() -> None:
    headings = set(re.findall(rf"^##+ ({SECTIONS})\.? \w", DOCS["spec.md"], re.MULTILINE))
    files = [path for folder in ("graphmem", "api", "cypher") for path in (ROOT / folder).rglob("*")]
    texts = {path: path.read_text("utf-8") for path in files if path.suffix in (".py", ".cypher", ".md", ".grass")}
    found = {path: cited(text) for path, text in texts.items()}
    assert set().union(*found.values()) >= {"1", "2", "10.1", "19"}
    assert {path.name: sections - headings for path, sections in found.items() if sections - headings} == {}
    assert cited(DOCS["glossary.md"]) <= headings


def test_the_glossary_is_in_alphabetical_order_without_a_term_twice() -> None:
    terms = [term.casefold() for term in re.findall(r"^- \*\*(.+?)\*\*: \w", DOCS["glossary.md"], re.MULTILINE)]
    assert terms == sorted(set(terms))
    assert len(terms) == sum(line.startswith("- ") for line in DOCS["glossary.md"].splitlines())


def test_every_label_is_in_the_graph_model() -> None:
    found = {label for text in CYPHER.values() for label in re.findall(r":\s*((?:\|?[A-Z][a-z]\w*)+)", text)}
    labels = {label for each in found for label in each.split("|")} | {label_of(modality) for modality in Modality}
    assert {"Student", "Companion", "Memory", "Entity", "Schema", "Procedural"} <= labels
    entries = set(re.findall(r"^(?:### |\| )`([A-Z]\w*[a-z])`", DOCS["graph.md"], re.MULTILINE))
    assert entries == labels


def test_every_relationship_type_is_in_the_graph_model() -> None:
    found = {each for text in CYPHER.values() for each in re.findall(r"\[\w*:((?:\|?[A-Z_]+)+)", text)}
    types = {name for each in found for name in each.split("|")} | {edge.value for edge in EdgeType}
    assert {"FORMED_FROM", "PRECEDES", "RAISES"} <= types
    entries = set(re.findall(r"^\| `([A-Z_]+)` \| \w.* \| \w.* \|", DOCS["graph.md"], re.MULTILINE))
    assert entries == types


def test_every_constraint_and_index_is_in_the_graph_model() -> None:
    pattern = r"(?:CONSTRAINT|INDEX) (\w+) IF NOT EXISTS FOR \(n:(\w+)\) (?:REQUIRE|ON) (.+?)(?: IS UNIQUE)?$"
    commands = schema.commands()
    made = {
        name: (label, re.findall(r"n\.(\w+)", properties))
        for command in commands
        for name, label, properties in re.findall(pattern, command)
    }
    assert len(made) == sum("DROP CONSTRAINT" not in command for command in commands)
    rows = re.findall(r"^\| `(\w+)` \| ([A-Z]\w+) \| ([a-z_, ]+) \|$", DOCS["graph.md"], re.MULTILINE)
    assert {name: (label, properties.split(", ")) for name, label, properties in rows} == made


def test_every_metric_is_in_the_operations_manual() -> None:
    families = metrics.registry.collect()
    found = {f"{family.name}_total" if family.type == "counter" else family.name for family in families}
    assert "graphmem_turns_total" in found
    assert set(re.findall(r"^\| `(graphmem_\w+)` \|", DOCS["operations.md"], re.MULTILINE)) == found


def example(name: str, folder: Path) -> Path:
    """An example of the file formats, as a file."""
    (text,) = re.findall(rf"^```jsonl {name}\n(.*?)^```$", DOCS["formats.md"], re.MULTILINE | re.DOTALL)
    path = folder / f"{name}.jsonl"
    path.write_text(text, "utf-8")
    return path


def test_the_example_of_dialogues_can_be_read(tmp_path: Path) -> None:
    first, second = load_dialogues(example("dialogues", tmp_path))
    assert (first.id, first.student, first.topic, first.source) == ("fractions-1", "Ada", "fractions", "dialogues")
    assert [turn.reply for turn in dialogue_turns(first)] == ["How many twelfths is each?", None]
    assert (second.id, second.student, len(dialogue_turns(second))) == ("fractions-2", "fractions-2", 1)


def test_the_example_of_observations_can_be_read(tmp_path: Path) -> None:
    found = list(read_observations(example("observations", tmp_path)))
    assert [each.kind for each in found] == [SourceKind.LESSON, SourceKind.TEACHER, SourceKind.SYSTEM]
    assert [each.speaker for each in found] == [None, "Ms Hill", None]


def test_every_key_and_kind_of_the_file_formats_is_described() -> None:
    keys = ["dialogue_id", "id", "turns", "student", "topic", "question", "lesson_topic", "english", "source"]
    keys += ["ref", "text", "at", "speaker", "kind", *SourceKind]
    assert all(f"`{key}`" in DOCS["formats.md"] for key in keys)


def test_the_table_of_roles_has_every_operation_and_every_field_of_a_student() -> None:
    schema_ = build_schema((ROOT / "api" / "schema.graphql").read_text("utf-8"))
    roots = (schema_.query_type, schema_.mutation_type, schema_.subscription_type)
    names = {name for root in roots if root is not None for name in root.fields}
    student = schema_.type_map["Student"]
    assert isinstance(student, GraphQLObjectType)
    rows = set(re.findall(r"^\| `([\w.]+)(?:\(kind: \w+\))?` \|(?: \w+ \|){5}$", DOCS["roles.md"], re.MULTILINE))
    assert rows - {"memory.content", "memory.surpriseResponse"} == names | {
        f"student.{name}" for name in student.fields
    }
    kinds = re.findall(r"^\| `observe\(kind: (\w+)\)`", DOCS["roles.md"], re.MULTILINE)
    assert sorted(kinds) == sorted(kind.name for kind in SourceKind)


def test_the_account_of_analysts_reads_nothing_that_is_sealed() -> None:
    script = (ROOT / "scripts" / "analyst_account.cypher").read_text("utf-8")
    denied: dict[str, set[str]] = {}
    for names, labels in re.findall(r"^DENY READ \{(.+)\} ON GRAPH neo4j NODES (.+) TO", script, re.MULTILINE):
        for label in labels.split(", "):
            denied[label] = set(names.split(", "))
    rows = re.findall(r"^\| `:(\w+)`.* \| .* \| (.*) \|$", DOCS["sealing.md"], re.MULTILINE)
    sealed = {
        label: set(re.sub(r" \([^)]*\)", "", names).split(", ")) for label, names in rows if "sealed with" not in names
    }
    sealed = {label: names for label, names in sealed.items() if names != {"nothing"}}
    assert {"Memory", "Student", "Job"} <= sealed.keys()
    assert {label for label, names in sealed.items() if names - denied.get(label, set())} == set()
