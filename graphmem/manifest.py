"""The integrity hash: what is known of each node and relationship of a student, as keyed digests (spec 14).

::

    element (node, relationship) --properties--> entry: a digest of each property, under the student's integrity key
    entries --by element--> pages, each sealed; root: integrity key and two sums, sealed with the server secret

The integrity hash is the sum of a keyed hash of each entry modulo 2**256: it does not depend on the order, and is kept
up by taking the old hash of an entry away and adding the new one. The same holds for the sum over pages, which tells a
page that was put back. Without the server secret nobody can make a digest, a page or a root.
"""

import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from typing import Any
from zlib import compress, decompress

from nacl.encoding import RawEncoder
from nacl.exceptions import CryptoError
from nacl.hash import blake2b
from nacl.secret import Aead
from nacl.utils import random

from graphmem.errors import Tampered
from graphmem.model import Who
from graphmem.sealing import subkey

PAGES = 1024
"""Pages that the entries of a student are spread over."""
FACTS = "Fact"
"""Kind of node that has a page of its own, the first: facts beyond the ring are found by their numbers."""
DIGEST_BYTES, SUM_BITS, KEY_BYTES = 8, 256, 32
_TIGHT = json.JSONEncoder(separators=(",", ":"))
LONG_NOTE = 4096
"""Bytes of a note from which on it is compressed."""
LABELS = ":labels"
"""Stands among the properties for the labels of a node; of a relationship all properties are one."""
PROPERTIES = ":properties"
Entry = Mapping[str, bytes]
"""Digests of an element's properties by their names."""
OWNERS = (
    *("Fact", "LedgerEntry", "Uncertainty", "Concern", "Question", "Reflection", "Compression", "Memory", "Entity"),
    *("Source", "Concept", "Companion", "Student"),
)
"""Labels in the order in which one end of a relationship has it on its page: the one that is deleted with it first."""


@dataclass(frozen=True)
class Root:
    """What a student's manifest rests on; sealed with the server secret.

    key : of all digests of this student, random
    version : counted up by each change
    elements, pages : sums over entries and over sealed pages
    at : when it was written last
    recent : ids of the notes that it took in lately, and when they were written
    """

    key: bytes = field(repr=False)
    version: int
    elements: int
    pages: int
    at: datetime
    recent: Mapping[str, float]


def new_root(at: datetime) -> Root:
    """The root of an empty manifest."""
    return Root(random(KEY_BYTES), 0, 0, 0, at, {})


def node_name(label: str, node_id: str) -> str:
    """Name of a node among the elements.

    Examples
    --------
    >>> element_id(node_name("Memory", "memory-1"))
    'memory-1'
    """
    return f"{label}\n{node_id}"


def edge_name(kind: str, start: str, end: str, extra: str = "") -> str:
    """Name of a relationship among the elements, by its type and the names of its ends.

    Examples
    --------
    >>> element_id(edge_name("ABOUT", node_name("Memory", "memory-1"), node_name("Concept", "fractions")))
    'memory-1 ABOUT fractions'
    """
    return f"{kind}\n{start}\n{end}\n{extra}"


def name_parts(name: str) -> list[str]:
    """Label and id of a node; type, label and id of the start, of the end, and what else tells a relationship."""
    return name.split("\n")


def is_edge(name: str) -> bool:
    """True for the name of a relationship."""
    return name.count("\n") > 1


def ends(name: str) -> tuple[str, str]:
    """The names of the ends of a relationship."""
    _, *told = name_parts(name)
    return node_name(*told[0:2]), node_name(*told[2:4])


def element_id(name: str) -> str:
    """An element as people are told of it: the id of a node, or the ids of the ends around the type."""
    told = name_parts(name)
    return f"{told[2]} {told[0]} {told[4]}" if is_edge(name) else told[1]


def page_of(key: bytes, name: str) -> int:
    """Number of the page that an element's entry is on."""
    owner = _owner(name) if is_edge(name) else name
    if name_parts(owner)[0] == FACTS:
        return 0
    found = blake2b(owner.encode(), digest_size=8, key=key, person=b"page", encoder=RawEncoder)
    return 1 + int.from_bytes(found, "big") % (PAGES - 1)


def _owner(name: str) -> str:
    start, end = ends(name)
    if name_parts(name)[0] == "ABSTRACTS":
        return end
    return min((start, end), key=lambda each: OWNERS.index(name_parts(each)[0]))


def digest(key: bytes, value: Any) -> bytes:
    """The keyed digest of a property.

    Examples
    --------
    >>> digest(bytes(32), 1) == digest(bytes(32), 1.0), len(digest(bytes(32), "text"))
    (False, 8)
    """
    return bytes(blake2b(_canonical(value), digest_size=DIGEST_BYTES, key=key, person=b"value", encoder=RawEncoder))


def _canonical(value: Any) -> bytes:
    """Bytes that differ for values that differ, in type too."""
    if isinstance(value, (bytes, bytearray)):
        return b"b" + bytes(value)
    if isinstance(value, list):
        told = [_canonical(each) for each in value]
        return b"l" + b"".join(len(each).to_bytes(4, "big") + each for each in told)
    if hasattr(value, "iso_format"):
        return b"t" + str(value.iso_format()).encode()
    return type(value).__name__.encode() + b" " + repr(value).encode()


def entry_of(key: bytes, name: str, properties: Mapping[str, Any]) -> Entry:
    """The entry of an element with these properties; those that are null are not there. Of a relationship it is one."""
    told = {each: value for each, value in properties.items() if value is not None}
    if is_edge(name):
        return {PROPERTIES: digest(key, [_canonical([each, told[each]]) for each in sorted(told)])}
    return {each: digest(key, value) for each, value in told.items()}


def entry_hash(key: bytes, name: str, entry: Entry) -> int:
    """What an entry adds to the integrity hash."""
    told = _canonical([name, *(part for each in sorted(entry.items()) for part in each)])
    found = blake2b(told, digest_size=SUM_BITS // 8, key=key, person=b"entry", encoder=RawEncoder)
    return int.from_bytes(found, "big")


def page_hash(key: bytes, number: int, content: bytes) -> int:
    """What a sealed page adds to the sum over pages."""
    told = number.to_bytes(4, "big") + content
    found = blake2b(told, digest_size=SUM_BITS // 8, key=key, person=b"page-sum", encoder=RawEncoder)
    return int.from_bytes(found, "big")


def added(total: int, new: Iterable[int] = (), old: Iterable[int] = ()) -> int:
    """A sum with some hashes more and others less.

    Examples
    --------
    >>> added(added(0, [5, 7]), [1], [5]) == added(0, [7, 1])
    True
    """
    return int((total + sum(new) - sum(old)) % 2**SUM_BITS)


def sealed_page(key: bytes, who: Who, number: int, entries: Mapping[str, Entry]) -> bytes:
    """A page of entries, sealed for its number."""
    told = {
        name: [sorted(entry), b"".join(entry[each] for each in sorted(entry)).hex()] for name, entry in entries.items()
    }
    packed = compress(json.dumps(told).encode(), 1)
    return bytes(Aead(subkey(key, b"manifest-page")).encrypt(packed, _manifest_place(who, "page", str(number))))


def opened_page(key: bytes, who: Who, number: int, content: bytes) -> dict[str, Entry]:
    """The entries of a page.

    Raises
    ------
    Tampered        it was altered, or is another page's
    """
    told = json.loads(decompress(_opened_content([key], b"manifest-page", who, ("page", str(number)), content)))
    return {
        name: {each: bytes.fromhex(packed[i * 16 : i * 16 + 16]) for i, each in enumerate(names)}
        for name, (names, packed) in told.items()
    }


def sealed_root(secret: bytes, who: Who, root: Root) -> bytes:
    """A root, sealed with the server secret."""
    told = {
        "key": root.key.hex(),
        "version": root.version,
        "elements": f"{root.elements:x}",
        "pages": f"{root.pages:x}",
        "at": root.at.isoformat(),
        "recent": dict(root.recent),
    }
    return bytes(
        Aead(subkey(secret, b"manifest-root")).encrypt(json.dumps(told).encode(), _manifest_place(who, "root"))
    )


def opened_root(secrets: Iterable[bytes], who: Who, content: bytes) -> Root:
    """A root, sealed with one of some server secrets.

    Raises
    ------
    Tampered        none of them opens it
    """
    told = json.loads(_opened_content(secrets, b"manifest-root", who, ("root",), content))
    return Root(
        bytes.fromhex(told["key"]),
        told["version"],
        int(told["elements"], 16),
        int(told["pages"], 16),
        datetime.fromisoformat(told["at"]),
        told["recent"],
    )


def sealed_note(secret: bytes, who: Who, note_id: str, told: Mapping[str, Any]) -> bytes:
    """A note of what a write touches, sealed with the server secret for its id."""
    plain = _TIGHT.encode(told).encode()
    # Each write waits for its note: a deflater costs more than some hundred bytes.
    packed = plain if len(plain) < LONG_NOTE else compress(plain, 1)
    return bytes(_note_sealer(secret).encrypt(packed, _manifest_place(who, "note", note_id)))


@lru_cache(maxsize=2)
def _note_sealer(secret: bytes) -> Aead:
    # Each write makes a note: its key is worth keeping.
    return Aead(subkey(secret, b"manifest-note"))


def opened_note(secrets: Iterable[bytes], who: Who, note_id: str, content: bytes) -> dict[str, Any]:
    """What a write touched.

    Raises
    ------
    Tampered        none of the server secrets opens it
    """
    packed = _opened_content(secrets, b"manifest-note", who, ("note", note_id), content)
    told: dict[str, Any] = json.loads(packed if packed.startswith(b"{") else decompress(packed))
    return told


def _opened_content(
    secrets: Iterable[bytes], purpose: bytes, who: Who, place: tuple[str, ...], content: bytes
) -> bytes:
    for secret in secrets:
        with suppress(CryptoError, ValueError):
            return bytes(Aead(subkey(secret, purpose)).decrypt(content, _manifest_place(who, *place)))
    raise Tampered(f"The {place[0]} of a manifest does not open: it was altered or moved, or another secret made it.")


def _manifest_place(who: Who, *names: str) -> bytes:
    return json.dumps([who.institution, who.student_id, *names], ensure_ascii=False).encode()
