"""Replacing a student's key: all that it sealed is sealed anew, in one transaction (spec 14)."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any

from graphmem.errors import Conflict, Tampered
from graphmem.model import Keys, Who
from graphmem.sealing import StudentLock, open_sealed_box, opened_value, padded, seal_bytes, seal_for
from graphmem.store.graph import Graph, Row, Transaction
from graphmem.store.jobs import Kind
from graphmem.store.nodes import NODE_KINDS, batches, bound_to, key_of, kind_of
from graphmem.store.students import lock_properties
from graphmem.store.tampering import Damage, report

RESEALED_AT_ONCE = 250
"""Nodes whose values one statement sets."""
MOST_KNOWN = 1_000_000
"""Known concepts that are read: all of them."""


@dataclass(frozen=True)
class Rekeying:
    """The keys and locks of a student before a rotation and after it."""

    before: Keys
    lock_before: StudentLock
    after: Keys
    lock_after: StudentLock


async def rotate(graph: Graph, who: Who, keys: Rekeying, but: str, now: datetime, *, end_sessions: bool) -> int:
    """Seal anew all that the keys before have sealed, and lock the keys after; how many values. All sessions end.

    What neither opens stays, and is reported. `rotation/begin`, `backup/list_nodes`, `export/list_known`,
    `rotation/save_nodes`, `rotation/save_notes` and `rotation/finish`, in one transaction.

    Parameters
    ----------
    graph : Graph
    who : Who
    keys : of before and after; the lock before is the one whose password was tried
    but : id of the session that does not count as another one
    end_sessions : other sessions end, instead of being in the way

    Raises
    ------
    Conflict        other sessions run, or the password or the key was changed meanwhile
    """
    damage = Damage()

    async def work(tx: Transaction) -> int:
        begun = await tx.run(
            "rotation/begin",
            session_id=but,
            end_sessions=end_sessions,
            wrapped_key=keys.lock_before.wrapped_key,
            now=now,
        )
        if not begun:
            raise Conflict("The student's key was rotated, or the password changed, by another request: try again.")
        if not begun[0]["begins"]:
            raise Conflict("Other sessions of the student run: close them first, or let them end with endSessions.")
        damage.clear()
        values = await _reseal(tx, keys, damage)
        await tx.run("rotation/finish", lock=lock_properties(keys.lock_after))
        return values

    values = await graph.transact(who, work) or 0
    # A write that another process had under way when the sessions ended may have come in meanwhile.
    values += await graph.transact(who, lambda tx: _reseal(tx, keys, Damage())) or 0
    await report(graph, who, damage)
    return values


async def _reseal(tx: Transaction, keys: Rekeying, damage: Damage) -> int:
    nodes = await tx.run("backup/list_nodes")
    known = await tx.run("export/list_known", after="", limit=MOST_KNOWN)
    changed, notes = await asyncio.to_thread(_all_resealed, keys, tx.who, nodes, known, damage)
    for some in batches(changed, RESEALED_AT_ONCE):
        await tx.run("rotation/save_nodes", nodes=some)
    if notes:
        await tx.run("rotation/save_notes", notes=notes)
    return sum(len(each["properties"]) for each in changed) + len(notes)


def _all_resealed(
    keys: Rekeying, who: Who, nodes: Sequence[Row], known: Sequence[Row], damage: Damage
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the nodes and the known concepts with values that are sealed anew."""
    turns = next((row["properties"]["turns"] for row in nodes if "Student" in row["labels"]), 0)
    changed, notes = [], []
    for row in nodes:
        label, told = kind_of(row["labels"]), row["properties"]
        if label is not None and (properties := _resealed(keys, who, label, told, turns, damage)):
            own = {"label": label, "id": key_of(label, told), "properties": properties}
            changed.append({"element": row["element"], **own})
    for row in known:
        if isinstance(value := row["properties"].get("notes"), bytes | bytearray):
            place = ("KNOWS", f"knows-{row['concept']}", "notes")
            if (sealed := damage.opened(partial(_again, keys, who, place, bytes(value)))) is not None:
                notes.append({"concept": row["concept"], "notes": sealed})
    return changed, notes


def _resealed(keys: Rekeying, who: Who, label: str, told: Row, turns: int, damage: Damage) -> dict[str, bytes]:
    """Return the sealed properties of a node that the keys before open, sealed with those after."""
    found = {}
    for name in NODE_KINDS[label].sealed.keys() & told.keys():
        if isinstance(value := told[name], bytes | bytearray):
            place = (label, bound_to(label, name, told, turns), name)
            again = _reboxed if label == "Job" and told["kind"] == Kind.OBSERVE else _again
            if (sealed := damage.opened(partial(again, keys, who, place, bytes(value)))) is not None:
                found[name] = sealed
    return found


def _again(keys: Rekeying, who: Who, place: tuple[str, str, str], value: bytes) -> bytes | None:
    """Return a sealed value, sealed anew; None where it is already.

    Raises
    ------
    Tampered        neither key opens it
    """
    try:
        opened = opened_value(keys.before, who, place, value)
    except Tampered:
        opened_value(keys.after, who, place, value)
        return None
    # Texts that were sealed before lengths were hidden are padded now.
    return seal_bytes(keys.after, who, place, opened if place[2].endswith("embedding") else padded(opened))


def _reboxed(keys: Rekeying, who: Who, place: tuple[str, str, str], value: bytes) -> bytes | None:
    """Return an observation, sealed for the public key after; None where it is already."""
    try:
        text = open_sealed_box(keys.before, who, keys.lock_before, value)
    except Tampered:
        try:
            open_sealed_box(keys.after, who, keys.lock_after, value)
        except Tampered as error:
            raise Tampered.at(*place) from error
        return None
    sealed = seal_for(keys.lock_after, who, text)
    return sealed if isinstance(sealed, bytes) else sealed.encode()
