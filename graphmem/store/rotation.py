"""Sealing anew all that is sealed of a student, some values at a time (spec 14).

Each step opens with the keys before and seals with those after; what opens with those after already stays. So each step
may be done again, by whoever has both, and what was cut short goes on where it was.
"""

from dataclasses import dataclass
from datetime import datetime
from functools import partial

from graphmem.errors import Conflict, Tampered
from graphmem.model import Keys, Who
from graphmem.sealing import StudentLock, open_sealed_box, opened_value, padded, seal_bytes, seal_for
from graphmem.store.graph import Graph, Row, Transaction
from graphmem.store.jobs import Kind
from graphmem.store.nodes import NODE_KINDS, bound_to, kind_of
from graphmem.store.students import SessionsEnd, lock_properties
from graphmem.store.tampering import Damage, report

RESEALED_AT_ONCE = 250
"""Nodes, or known concepts, whose values one transaction seals anew."""


@dataclass(frozen=True)
class Rekeying:
    """The keys and locks of a student before a rotation and after it."""

    before: Keys
    lock_before: StudentLock
    after: Keys
    lock_after: StudentLock


async def begin_rotation(
    graph: Graph, who: Who, lock: StudentLock, next_key: bytes, ends: SessionsEnd, *, end_sessions: bool
) -> bytes | None:
    """Begin to rotate a student's key, or go on with a rotation; `rotation/begin`. All sessions end.

    Parameters
    ----------
    graph : Graph
    who : Who
    lock : the lock whose password was tried
    next_key : the next keys, sealed with those before
    ends : Which session does not count as another one
    end_sessions : other sessions end, too

    Returns
    -------
    The sealed next keys: those of the rotation under way, if there is one. None where other sessions run.

    Raises
    ------
    Conflict        the password was changed meanwhile
    """
    rows = await graph.run(
        "rotation/begin",
        who,
        session_id=ends.but,
        end_sessions=end_sessions,
        wrapped_key=lock.wrapped_key,
        next_key=next_key,
        now=ends.now,
    )
    if not rows:
        raise Conflict("The password was changed meanwhile: send the newest one.")
    found = rows[0]["next_key"]
    return None if found is None else bytes(found)


async def reseal(graph: Graph, who: Who, keys: Rekeying, now: datetime) -> int:
    """Seal anew all that the keys before have sealed; how many values. What neither opens stays, and is reported.

    Runs `rotation/list_nodes`, then some at a time `export/get_nodes` and `rotation/save_nodes`, and in the same way
    `export/list_known` and `rotation/save_notes`.
    """
    damage, resealed = Damage(), 0
    elements = [row["element"] for row in await graph.run("rotation/list_nodes", who)]
    for start in range(0, len(elements), RESEALED_AT_ONCE):
        some = elements[start : start + RESEALED_AT_ONCE]
        resealed += await graph.transact(who, partial(_reseal_nodes, keys, some, damage, now)) or 0
    after: str | None = ""
    while after is not None:
        done = await graph.transact(who, partial(_reseal_notes, keys, after, damage, now))
        after, some_notes = done or (None, 0)
        resealed += some_notes
    await report(graph, who, damage)
    return resealed


async def replace_key(graph: Graph, who: Who, keys: Rekeying, next_key: bytes, now: datetime) -> bool:
    """Let the next key take the place of the one before; `rotation/finish`. False if somebody else did, or began anew.

    What was observed meanwhile is sealed anew in the same transaction: from then on observations are sealed with the
    new public key only.
    """

    async def work(tx: Transaction) -> bool | None:
        if not await tx.run("rotation/lock", now=now):
            return None
        rows = await tx.run("rotation/list_observations", kinds=[Kind.OBSERVE])
        await _reseal_nodes(keys, [row["element"] for row in rows], Damage(), now, tx)
        finished = await tx.run(
            "rotation/finish",
            wrapped_key=keys.lock_before.wrapped_key,
            next_key=next_key,
            lock=lock_properties(keys.lock_after),
        )
        return True if finished else None

    return bool(await graph.transact(who, work))


async def _reseal_nodes(keys: Rekeying, elements: list[str], damage: Damage, now: datetime, tx: Transaction) -> int:
    locked = await tx.run("rotation/lock", now=now)
    turns = locked[0]["turns"] if locked else 0
    nodes, values = [], 0
    for row in await tx.run("export/get_nodes", elements=elements):
        if (label := kind_of(row["labels"])) is None:
            continue
        changed = _resealed(keys, tx.who, label, row, turns, damage)
        if changed:
            told = row["properties"]
            node_id = {"Student": "student", "Companion": "companion", "Entity": told.get("key")}.get(label, told["id"])
            nodes.append({"element": row["element"], "label": label, "id": node_id, "properties": changed})
            values += len(changed)
    if nodes:
        await tx.run("rotation/save_nodes", nodes=nodes)
    return values


def _resealed(keys: Rekeying, who: Who, label: str, row: Row, turns: int, damage: Damage) -> dict[str, bytes]:
    """Return the sealed properties of a node that the keys before open, sealed with those after."""
    properties, found = row["properties"], {}
    for name in NODE_KINDS[label].sealed.keys() & properties.keys():
        if not isinstance(value := properties[name], bytes | bytearray):
            continue
        place = (label, bound_to(label, name, properties, turns), name)
        if label == "Job" and properties["kind"] == Kind.OBSERVE:
            sealed = damage.opened(partial(_reboxed, keys, who, place, bytes(value)))
        else:
            sealed = damage.opened(partial(_again, keys, who, place, bytes(value)))
        if sealed is not None:
            found[name] = sealed
    return found


def _again(keys: Rekeying, who: Who, place: tuple[str, str, str], value: bytes) -> bytes | None:
    """Return a sealed value, sealed anew; None where that was done already.

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
    """Return an observation, sealed for the next public key; None where that was done already."""
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


async def _reseal_notes(
    keys: Rekeying, after: str, damage: Damage, now: datetime, tx: Transaction
) -> tuple[str | None, int]:
    """Notes of a page of known concepts, sealed anew: where the next page begins, and how many were."""
    await tx.run("rotation/lock", now=now)
    rows = await tx.run("export/list_known", after=after, limit=RESEALED_AT_ONCE)
    notes = []
    for row in rows:
        value = row["properties"].get("notes")
        if isinstance(value, bytes | bytearray):
            place = ("KNOWS", f"knows-{row['concept']}", "notes")
            sealed = damage.opened(partial(_again, keys, tx.who, place, bytes(value)))
            if sealed is not None:
                notes.append({"concept": row["concept"], "notes": sealed})
    if notes:
        await tx.run("rotation/save_notes", notes=notes)
    return (rows[-1]["concept"] if rows else None), len(notes)
