"""The manifest of a student in the graph: kept up by notes of writes, compared with the stored data (spec 14).

Each write leaves a note of what it touched in its own transaction, sealed with the server secret: `Graph` sees to that.
Taking the notes in reads what they name, and brings the entries on its pages up to date (`take_in`): in the background,
and before anything rests on it. Whatever differs from its entry was not written by the service.
"""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from graphmem import manifest
from graphmem.errors import Conflict, Tampered
from graphmem.manifest import Entry, Root
from graphmem.model import Integrity, Who
from graphmem.sealing import SEALING_OFF, public_key_seal
from graphmem.store import overlays
from graphmem.store.graph import Graph, Row, Touched, Transaction
from graphmem.store.nodes import NODE_KINDS, STUDENT_LABELS, from_row, key_of

INSIDE = STUDENT_LABELS["hashed"]
"""Labels of the nodes that the hash covers."""
EDGES_OUTSIDE = frozenset({"OPENED", "SAID", "EXPERIENCES", "LIVED"})
"""Relationships that the hash does not cover: of a running session, and to episodes."""
NOTES_AT_ONCE = 200
"""Most notes that are taken in by one transaction."""
PLACES_AT_ONCE = 2_000
"""Nodes and relationships after which a transaction leaves the other notes to the next one."""
NOTE_AGE = timedelta(minutes=5)
"""A note older than the manifest by more is not taken in: no write takes so long, and it may have been put back."""
ATTEMPTS = 5
"""Most times that a student is read again because of concurrent writes."""
MANIFEST = "manifest"
"""Name reported where the manifest itself was altered or removed."""
LOCK = ("salt", "argon2_ops", "argon2_memory", "wrapped_key", "sealed_private_key")
"""Properties of a student that decide what a password opens."""


@dataclass
class Pages:
    """Entries on their pages, as they were read and as they are to be written."""

    key: bytes = field(repr=False)
    who: Who
    content: dict[int, bytes]
    entries: dict[int, dict[str, Entry]]
    broken: set[int] = field(default_factory=set)

    def find(self, name: str) -> Entry | None:
        """Return the entry of an element; None where it has none."""
        return self.entries.get(manifest.page_of(self.key, name), {}).get(name)

    def names(self) -> list[str]:
        """Return every element with an entry."""
        return [name for page in self.entries.values() for name in page]

    def put(self, name: str, entry: Entry | None) -> None:
        """Set the entry of an element; None takes it away."""
        page = self.entries.setdefault(manifest.page_of(self.key, name), {})
        page.pop(name, None)
        if entry is not None:
            page[name] = entry


Elements = Mapping[str, Mapping[str, Any]]
"""Nodes and relationships as they are in the graph: by their names their properties that the hash covers."""


async def take_in(graph: Graph, who: Who, now: datetime) -> bool:
    """Take in the notes of a student's writes. False where there was none, or no such student.

    Raises
    ------
    Tampered        the root of the manifest was altered
    """
    taken = False
    while await _take_in(graph, who, now):
        taken = True
    return taken


async def _take_in(graph: Graph, who: Who, now: datetime) -> bool:
    """Take in some notes; False where there are none.

    The student is locked by the last statement alone, so that no turn waits for the reads. A write meanwhile leaves a
    note of its own, by which it is read again; where another process took notes in meanwhile the root is another one,
    and nothing is saved.
    """
    rows = await graph.run("integrity/list_notes", who, limit=NOTES_AT_ONCE)
    if not rows or not rows[0]["notes"]:
        return False
    root_before, notes = rows[0]["root"], rows[0]["notes"]
    root = _root(graph, who, root_before) or manifest.new_root(now)
    touched, times = _read_notes(graph, who, root, notes)
    nodes, edges = await _touched_nodes(graph, who, touched), await _touched_edges(graph, who, touched)
    names = {manifest.node_name(*place) for place in (*touched.nodes, *touched.gone)}
    wanted = {manifest.page_of(root.key, name) for name in (*names, *nodes, *edges)}
    wanted |= {
        manifest.page_of(root.key, manifest.node_name(*place[:2])) for place in touched.edges if place[0] in INSIDE
    }
    pages = _opened_pages(root, who, await graph.run("integrity/list_pages", who, numbers=sorted(wanted)))
    before = {number: dict(page) for number, page in pages.entries.items()}
    _update_pages(pages, touched, nodes, edges)
    # While notes are left the manifest stays as old as it is: they may be older than a note may be.
    at = max(now, root.at) if len(times) == len(notes) < NOTES_AT_ONCE else root.at
    oldest = (at - NOTE_AGE).timestamp()
    recent = {note_id: told for note_id, told in {**root.recent, **times}.items() if told and told >= oldest}
    after = replace(root, version=root.version + 1, at=at, recent=recent)
    saved = _saved(graph, pages, before, after)
    await graph.run("integrity/save", who, now=now, root_before=root_before, notes=list(times), **saved)
    return True


def _root(graph: Graph, who: Who, content: bytes | None) -> Root | None:
    return None if content is None else manifest.opened_root(graph.secrets, who, bytes(content))


def _read_notes(
    graph: Graph, who: Who, root: Root, notes: Sequence[tuple[str, bytes | None]]
) -> tuple[Touched, dict[str, float | None]]:
    """Return the elements that the first notes name as touched, and the time of each note.

    One that was altered or put back says nothing, and has no time; nor has one that somebody else takes in at this
    moment, whose content is gone.
    """
    touched, times = Touched(), dict[str, float | None]()
    oldest = (root.at - NOTE_AGE).timestamp()
    for note_id, content in notes:
        if touched.places() >= PLACES_AT_ONCE:
            break
        times[note_id] = None
        with suppress(Tampered):
            told = manifest.opened_note(graph.secrets, who, note_id, bytes(content or b""))
            if note_id not in root.recent and told["at"] >= oldest:
                times[note_id] = told["at"]
                touched.add_json(told["touched"])
    return touched, times


async def _touched_nodes(graph: Graph, who: Who, touched: Touched) -> Elements:
    if not (places := {*touched.nodes, *touched.gone}):
        return {}
    ids = {label: [node_id for other, node_id in places if other == label] for label in INSIDE}
    rows = await graph.run("integrity/list_nodes", who, ids=ids)
    return dict(map(_node_element, rows))


async def _touched_edges(graph: Graph, who: Who, touched: Touched) -> Elements:
    if not touched.edges:
        return {}
    labels = (*INSIDE, "Concept", "Discovered")
    places = {label: [[node_id, kind] for other, node_id, kind in touched.edges if other == label] for label in labels}
    rows = await graph.run("integrity/list_edges", who, places=places)
    return dict(_edge_elements(rows, who))


def _node_element(row: Row) -> tuple[str, Mapping[str, Any]]:
    label, properties = row["label"], row["properties"]
    kind, outside = NODE_KINDS[label], set(NODE_KINDS[label].unhashed)
    if label == "Student":
        # Of a student it covers declared properties only: the others serve sessions and the manifest itself.
        outside |= properties.keys() - {each.name for each in kind.fields}
    inside = {name: value for name, value in properties.items() if name not in outside}
    return manifest.node_name(label, key_of(label, properties)), inside | {manifest.LABELS: sorted(row["labels"])}


def _edge_elements(rows: Iterable[Row], who: Who) -> list[tuple[str, Mapping[str, Any]]]:
    found = []
    for row in rows:
        start, end = _end(row["from_labels"], row["from"], who), _end(row["to_labels"], row["to"], who)
        if start is not None and end is not None and row["type"] not in EDGES_OUTSIDE:
            properties = row["properties"]
            extra = str(properties.get("edge_id") or properties.get("side") or "")
            found.append((manifest.edge_name(row["type"], start, end, extra), properties))
    return found


def _end(labels: Sequence[str], node: Mapping[str, Any], who: Who) -> str | None:
    """Return the name of an end of a relationship; None for a node that the hash does not cover."""
    label = next((each for each in labels if each in INSIDE or each == "Concept"), None)
    if label is None:
        return None
    node_id = str(node["id"]) if label == "Concept" else key_of(label, node)
    if label == "Student":
        return manifest.node_name(label, node_id if node["id"] == who.student_id else f"{node_id} {node['id']}")
    own = label in ("Concept", "Source") or node["student_id"] == who.student_id
    return manifest.node_name(label, node_id if own else f"{node['student_id']} {node_id}")


def _opened_pages(root: Root, who: Who, rows: Iterable[Row]) -> Pages:
    pages = Pages(root.key, who, {}, {})
    for row in rows:
        pages.content[row["number"]] = bytes(row["content"])
        try:
            pages.entries[row["number"]] = manifest.opened_page(root.key, who, row["number"], bytes(row["content"]))
        except Tampered:
            pages.broken.add(row["number"])
    return pages


def _update_pages(pages: Pages, touched: Touched, nodes: Elements, edges: Elements) -> None:
    """Update the entries of touched elements, and no others."""
    gone = {manifest.node_name(*place) for place in touched.gone}
    deleted = gone - nodes.keys()
    for name in deleted:
        pages.put(name, None)
    for place, names in touched.nodes.items():
        name = manifest.node_name(*place)
        if name not in nodes:
            continue
        known, now = pages.find(name), manifest.entry_of(pages.key, name, nodes[name])
        if known is None:
            pages.put(name, now if place in touched.made else None)
        elif names is None or name in gone:
            pages.put(name, now)
        else:
            kept = {each: known[each] for each in known.keys() - names}
            pages.put(name, kept | {each: now[each] for each in names if each in now})
    linked = {(manifest.node_name(*place[:2]), place[2]) for place in touched.edges}
    for name in [each for each in pages.names() if manifest.is_edge(each) and each not in edges]:
        kind = manifest.name_parts(name)[0]
        if any(end in deleted or (end, kind) in linked for end in manifest.ends(name)):
            pages.put(name, None)
    for name, properties in edges.items():
        pages.put(name, manifest.entry_of(pages.key, name, properties))


def _saved(graph: Graph, pages: Pages, before: Mapping[int, Mapping[str, Entry]], root: Root) -> dict[str, Any]:
    """Return the pages that changed and the root with its sums brought up to date, as they are stored."""
    elements, sums, changed = root.elements, root.pages, []
    for number, page in pages.entries.items():
        was = before.get(number, {})
        if page == was:
            continue
        key = root.key
        old = [manifest.entry_hash(key, name, entry) for name, entry in was.items() if page.get(name) != entry]
        new = [manifest.entry_hash(key, name, entry) for name, entry in page.items() if was.get(name) != entry]
        content = manifest.sealed_page(key, pages.who, number, page) if page else None
        elements = manifest.added(elements, new, old)
        known = pages.content.get(number)
        sums = manifest.added(
            sums,
            [] if content is None else [manifest.page_hash(key, number, content)],
            [] if known is None else [manifest.page_hash(key, number, known)],
        )
        changed.append({"number": number, "content": content})
    sealed = manifest.sealed_root(graph.secrets[0], pages.who, replace(root, elements=elements, pages=sums))
    return {"root": sealed, "pages": changed}


async def check_lock(graph: Graph, who: Who, stored: Mapping[str, Any], now: datetime) -> bool:
    """Return whether the properties that open a student's keys are as the service last wrote them.

    Parameters
    ----------
    graph : Graph
    who : Who
    stored : the properties of the lock as they were read
    now : datetime
    """
    try:
        await take_in(graph, who, now)
        rows = await graph.run("integrity/get_root", who)
        root = _root(graph, who, rows[0]["root"]) if rows else None
    except Tampered:
        return False
    if root is None:
        return False
    name = manifest.node_name("Student", "student")
    number = manifest.page_of(root.key, name)
    entry = _opened_pages(root, who, await graph.run("integrity/list_pages", who, numbers=[number])).find(name)
    return entry is not None and all(entry.get(each) == manifest.digest(root.key, stored[each]) for each in LOCK)


async def verify(graph: Graph, who: Who, now: datetime) -> Integrity | None:
    """Compare all that is kept of a student with its manifest. None without such a student.

    Raises
    ------
    Conflict        something was written each time that it was read
    """
    for _ in range(ATTEMPTS):
        try:
            await take_in(graph, who, now)
            found = await graph.run("integrity/get_root", who)
            root = _root(graph, who, found[0]["root"]) if found else None
        except Tampered:
            return Integrity(False, "", (MANIFEST,))
        if not found:
            return None
        elements = await _everything(graph, who)
        rows = await graph.run("integrity/list_pages", who, numbers=None)
        if await graph.run("integrity/get_root", who) == found and not found[0]["notes"]:
            if root is None:
                added = tuple(sorted(map(manifest.element_id, elements)))
                return Integrity(False, "", (), (MANIFEST,), added, ())
            pages = _opened_pages(root, who, rows)
            world = await overlays.list_unknown_concepts(graph, who.institution, _concepts(pages))
            return _compared(root, pages, elements, set(world))
    raise Conflict("The student was written to each time that it was read: verify again when less is going on.")


async def _everything(graph: Graph, who: Who) -> Elements:
    nodes = await graph.run("integrity/list_all_nodes", who)
    edges = await graph.run("integrity/list_all_edges", who)
    return dict((*map(_node_element, nodes), *_edge_elements(edges, who)))


def _concepts(pages: Pages) -> list[str]:
    """Return ids of the concepts that entries lead to."""
    names = [name for name in pages.names() if manifest.is_edge(name)]
    told = [manifest.name_parts(end) for name in names for end in manifest.ends(name)]
    return sorted({node_id for label, node_id in told if label == "Concept"})


def _compared(root: Root, pages: Pages, elements: Elements, gone_concepts: set[str]) -> Integrity:
    """Compare the stored data with the entries.

    A relationship of a node that was deleted by the service, or of a concept that the world no longer has, is gone
    with it.
    """
    sound = not pages.broken and root.pages == manifest.added(
        0, (manifest.page_hash(root.key, number, content) for number, content in pages.content.items())
    )
    known = {name: entry for page in pages.entries.values() for name, entry in page.items()}
    absent = {manifest.node_name("Concept", each) for each in gone_concepts}

    def is_over(name: str) -> bool:
        return manifest.is_edge(name) and any(
            end in absent if end.startswith("Concept\n") else end not in known for end in manifest.ends(name)
        )

    removed = [name for name in known if name not in elements and not is_over(name)]
    added = [name for name in elements if name not in known]
    fields = {}
    total = 0
    for name, properties in elements.items():
        now = manifest.entry_of(root.key, name, properties)
        total = manifest.added(total, [manifest.entry_hash(root.key, name, now)])
        if name in known and now != known[name]:
            fields[name] = sorted(each for each in {*now, *known[name]} if now.get(each) != known[name].get(each))
    altered = [*([] if sound else [MANIFEST]), *sorted(map(manifest.element_id, fields))]
    return Integrity(
        intact=not (removed or added or altered),
        hash=f"{total:064x}",
        altered=tuple(altered),
        removed=tuple(sorted(map(manifest.element_id, removed))),
        added=tuple(sorted(map(manifest.element_id, added))),
        fields=tuple(f"{manifest.element_id(name)}.{each}" for name in sorted(fields) for each in fields[name]),
    )


async def accept(graph: Graph, who: Who, now: datetime) -> bool:
    """Make a student's manifest anew, as `make_manifest` does. False without such a student."""
    return bool(await graph.transact(who, lambda tx: make_manifest(graph, tx, now)))


async def make_manifest(graph: Graph, tx: Transaction, now: datetime) -> bool | None:
    """Make a manifest from a student's stored data, and seal the public key; None without such a student.

    Writes the pages, the root and the seal of the public key; manual changes count as the service's own.
    """
    rows = await tx.run("integrity/begin", now=now, limit=NOTES_AT_ONCE)
    if not rows:
        return None
    nodes, edges = await tx.run("integrity/list_all_nodes"), await tx.run("integrity/list_all_edges")
    root = manifest.new_root(now)
    student = next(row["properties"] for row in nodes if row["label"] == "Student")
    key, clear = bytes(student["public_key"]), student.get("sealing") == SEALING_OFF
    seal = public_key_seal(graph.secrets[0], tx.who, key, clear=clear)
    await tx.run("integrity/set_public_key_seal", public_key_seal=seal)
    pages = Pages(root.key, tx.who, {}, {})
    for name, properties in (*map(_node_element, nodes), *_edge_elements(edges, tx.who)):
        pages.put(name, manifest.entry_of(root.key, name, properties))
    rows_before = await tx.run("integrity/list_pages", numbers=None)
    left = [row["number"] for row in rows_before if row["number"] not in pages.entries]
    await tx.run("integrity/delete_pages", numbers=left)
    taken, saved = [note_id for note_id, _ in rows[0]["notes"]], _saved(graph, pages, {}, root)
    await tx.run("integrity/save", now=now, root_before=rows[0]["root"], notes=taken, **saved)
    return True


async def list_noted(graph: Graph, after: Who | None = None, limit: int = 200) -> list[Who]:
    """Return a page of students with notes that were not taken in yet, those after another; `integrity/list_noted`."""
    after = after or Who("", "")
    rows = await graph.run(
        "integrity/list_noted", after_institution=after.institution, after_id=after.student_id, limit=limit
    )
    return [from_row(Who, row) for row in rows]


async def renew_seals(graph: Graph, limit: int = 500) -> int:
    """Renew, with the server secret, the seals made with the one before, of all students; return how many.

    Runs `integrity/list_students` and `integrity/set_seals`.
    """
    secret, changed = graph.secrets[0], 0
    async for rows in graph.student_pages("integrity/list_students", limit):
        for row in rows:
            who = from_row(Who, row)
            key, seal, content = (bytes(row[name] or b"") for name in ("public_key", "public_key_seal", "root"))
            clear = row["sealing"] == SEALING_OFF
            own = public_key_seal(secret, who, key, clear=clear)
            vouched = any(seal == public_key_seal(each, who, key, clear=clear) for each in graph.secrets)
            root = _renewed(graph, who, content)
            if root is not None or (vouched and seal != own):
                changed += 1
                await graph.run(
                    "integrity/set_seals",
                    who,
                    public_key_seal=own if vouched else seal,
                    root_before=content,
                    root=root or content,
                )
    return changed


def _renewed(graph: Graph, who: Who, content: bytes) -> bytes | None:
    """Return a root sealed with the server secret; None where it is already, or nobody can open it."""
    with suppress(Tampered):
        manifest.opened_root(graph.secrets[:1], who, content)
        return None
    with suppress(Tampered):
        return manifest.sealed_root(graph.secrets[0], who, manifest.opened_root(graph.secrets[1:], who, content))
    return None
