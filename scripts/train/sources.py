"""The rows that the encoder learns from: texts, and of each what is known of it, of its parts and of its tokens.

What a file knows stands in one function; a head that no function answers for a row is not trained on that row.
A label is the place of an answer in the head's labels, a tuple of places where it is one of several, or a number.
"""

import json
import random
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from graphmem.bench.talks import is_held_out, text_hash
from graphmem.bench.understanding import LabelledUtterance, read_utterances
from graphmem.language.encoder import encoder_network
from graphmem.language.heads import MESSAGE

from .options import WRITTEN
from .options import lines as lines

DATA = WRITTEN
TUTORING = ("mathdial", "cima", "bridge")
TUTORING_CHARACTERS = 250
Label = int | float | tuple[int, ...]
Labels = dict[str, Label]
Span = tuple[int, int]

_SPACED = re.compile(r" ([.,!?;:])")
_SHORT = re.compile(r" ' ?(s|m|re|ve|ll|d|t)\b")
_QUOTED = re.compile(r"Sam (?:said|says): “(.*)”$")
LINK = re.compile(r"(?:and|but|also|plus|btw|lol|oh)\b[ ,]*|:\) *", re.IGNORECASE)


@dataclass(frozen=True, eq=False)
class Row:
    """A text and what is known of it.

    group : rows that are alike; they are held out together
    labels : of the whole text
    parts : spans of statements with their labels; none where the text is one statement, or nobody knows
    borders : where the statements stand; None where nobody knows
    names : spans of names with their kind; None where nobody knows
    held : True where it is held out
    """

    text: str
    group: str
    labels: Labels = field(default_factory=dict)
    parts: tuple[tuple[Span, Labels], ...] = ()
    borders: tuple[Span, ...] | None = None
    names: tuple[tuple[int, int, str], ...] | None = None
    origin: str = ""
    held: bool = False


def of(head: str, *labels: str) -> Label:
    """Return the place of a label of a head, or the places of several."""
    places = tuple(MESSAGE.heads[head].labels.index(label) for label in labels)
    return places[0] if len(places) == 1 else places


def but(head: str, label: str) -> Label:
    """Return all labels of a head but one."""
    return of(head, *(each for each in MESSAGE.heads[head].labels if each != label))


def ledger(category: str | None) -> Label:
    """Return the label of a category; an instruction may be a wish or an order."""
    return of("ledger", "wish", "order") if category == "instruction" else of("ledger", category or "none")


SAFE: Labels = {"concern": of("concern", "none"), "urgency": 0, "ledger": but("ledger", "threat")}


def utterances(data: Path) -> Iterator[Row]:
    """Messages with labels of most heads; those of `scripts/data` are never held out."""
    domains = json.loads((DATA.parent / "reader_domains.json").read_text("utf-8"))
    for path in (data / "understanding" / "utterances.jsonl", DATA / "utterances.jsonl", DATA / "told.jsonl"):
        for u in read_utterances(path):
            held = is_held_out(u.group) and not u.group.startswith("more-")
            yield Row(u.text, u.group, of_utterance(u, domains), origin=u.origin, held=held)


def of_utterance(u: LabelledUtterance, domains: dict[str, str]) -> Labels:
    """Return the labels of a labelled message."""
    labels: Labels = {"band": of("band", u.band), "ledger": ledger(u.ledger), "lasting": u.lasting}
    labels |= {"about_self": float(u.about_self), "valence": u.valence, "weight": weight_of(u)}
    if u.kind is not None and u.modality is not None:
        labels |= {"kind": of("kind", u.kind), "modality": of("modality", u.modality)}
    danger = u.ledger == "threat"
    labels |= {"concern": but("concern", "none")} if danger else {"concern": of("concern", "none"), "urgency": 0}
    if u.origin != "written" or u.kind == "concept":
        labels["domain"] = of("domain", "school")
    elif u.id in domains:
        labels["domain"] = of("domain", domains[u.id])
    worth = "nothing"
    if u.band in ("two", "three") or (u.band == "one" and u.lasting >= 1):
        worth = "feeling" if u.modality == "emotional" else str(u.kind).replace("concept", "work")
    return labels | {"worth": of("worth", worth)}


def weight_of(u: LabelledUtterance) -> Label:
    """Return what may be the weight of a disclosure, by how much is worth remembering."""
    if u.band == "none" or u.kind == "concept":
        return of("weight", "nothing")
    return {"one": (0, 1), "two": (1, 2), "three": (2, 3)}[u.band]


def of_danger(row: dict[str, Any]) -> Labels:
    """Return the labels of a message of which the danger is known."""
    labels: Labels = {"concern": of("concern", row["concern"]), "urgency": row["urgency"]}
    if row["concern"] == "none":
        return labels | {"ledger": but("ledger", "threat")}
    labels |= {
        "band": of("band", "three"),
        "ledger": of("ledger", "threat"),
        "about_other": float(row["who"] == "other"),
    }
    if row["who"] == "self":
        labels["about_self"] = 1.0
    return labels | {"weight": 3 if row["urgency"] >= 2 else (2, 3), "act": of("act", "own", "story")}


Said = tuple[str, str, str, bool]
"""A turn of real talk: its text, its dialogue, the name of the set, and whether it is held out."""


def small_talk(data: Path) -> list[Said]:
    """Read turns of small talk as one writes them."""
    return [
        (_SHORT.sub(r"'\1", _SPACED.sub(r"\1", turn["text"])), dialogue["dialogue_id"], f"tiage_{part}", part == "dev")
        for part in ("train", "dev")
        for dialogue in lines(data / "boundaries" / f"tiage_{part}.jsonl")
        for turn in dialogue["turns"]
    ]


def student_turns(data: Path) -> list[Said]:
    """Read students' turns of tutoring dialogues."""
    return [
        (turn["text"], group, name, is_held_out(group))
        for name in TUTORING
        for dialogue in lines(data / "tutoring" / f"{name}.jsonl")
        for group in (f"{name}:{dialogue['dialogue_id']}",)
        for turn in dialogue["turns"]
        if turn["speaker"] == "student"
    ]


def talk(data: Path) -> Iterator[Row]:
    """Turns of tutoring and small talk in which nobody is in danger, with what they do where that was labelled."""
    acts = {each["hash"]: each["talk"] for each in lines(DATA / "talk_acts_real.jsonl")}

    def labels(text: str) -> Labels:
        return SAFE | ({"act": of("act", acts[text_hash(text)])} if text_hash(text) in acts else {})

    for text, group, name, held in student_turns(data):
        if len(text) < TUTORING_CHARACTERS or text_hash(text) in acts:
            known = labels(text) | {"domain": of("domain", "school"), "weight": 0}
            yield Row(text, group, known, origin=name, held="act" in known and held)
    for text, group, name, held in small_talk(data):
        yield Row(text, group, labels(text), origin=name, held=held)


def of_act(row: dict[str, Any]) -> Labels:
    """Return the labels of a turn of which it is known what it does."""
    tells_nothing = row["talk"] in ("greeting", "goodbye", "thanks", "reaction", "ability", "request")
    return {"act": of("act", row["talk"])} | ({"weight": 0, "worth": 0} if tells_nothing else {})


def clauses_of_talk(data: Path) -> Iterator[Row]:
    """Clauses of small talk and tutoring whose domain or ledger category was labelled, by the hash of their turn."""
    known: dict[int, dict[Span, Labels]] = {}
    for each in (*lines(DATA / "domain_talk.jsonl"), *lines(DATA / "ledger_talk.jsonl")):
        labels = known.setdefault(each["hash"], {}).setdefault((each["start"], each["end"]), {})
        labels |= {"domain": of("domain", each["domain"])} if "domain" in each else {"ledger": ledger(each["ledger"])}
    for text, group, name, held in (*small_talk(data), *student_turns(data)):
        for (start, end), labels in known.get(text_hash(text), {}).items():
            yield Row(text[start:end], group, labels, origin=f"clause {name.partition('_')[0]}", held=held)


def told_in_dialogues(data: Path) -> Iterator[Row]:
    """Turns of dialogues with reference memories: of each clause what it tells."""
    for dialogue in lines(data / "gold" / "gold.jsonl"):
        for i, turn in enumerate(dialogue["turns"]):
            gold = [each for each in dialogue["gold"] if each["turn"] == i]
            if turn["speaker"] == "student" and (gold or i in dialogue["nothing"]):
                spans = own_spans(turn["text"])
                parts = tuple((span, of_gold(turn["text"], span, gold)) for span in spans)
                held = is_held_out(dialogue["student"])
                yield Row(turn["text"], dialogue["student"], {}, parts, spans, origin="gold", held=held)


def of_gold(text: str, span: Span, gold: Sequence[dict[str, Any]]) -> Labels:
    """Return what a clause tells: the kind of the reference memory whose quote it holds."""
    for each in gold:
        place = text.find(each["quote"])
        common = min(span[1], place + len(each["quote"])) - max(span[0], place)
        if common > 0.3 * min(span[1] - span[0], len(each["quote"])):
            kind = each["kind"]
            work = kind in ("misconception", "understanding", "concept")
            aspect = kind if kind in MESSAGE.heads["aspect"].labels else "none"
            known: Labels = {"worth": of("worth", "work" if work else kind), "weight": 0 if work else (1, 2, 3)}
            return known | ({"aspect": of("aspect", "none", "need") if aspect == "none" else of("aspect", aspect)})
    return {} if gold else {"worth": 0, "aspect": 0, "weight": 0}


def of_clause(row: dict[str, Any]) -> Labels:
    """Return the labels of a clause of friends."""
    tells = row["tells"]
    aspect = of("aspect", tells) if tells in ("plan", "feeling") else of("aspect", "none", "need")
    known: Labels = {"worth": of("worth", tells), "domain": of("domain", row["domain"]), "aspect": aspect}
    return known | {"weight": 0 if tells == "nothing" else (1, 2)}


def of_need(row: dict[str, Any]) -> Labels:
    """Return the labels of what a student tells of needs, or of what only sounds like it."""
    known: Labels = {"aspect": of("aspect", "need") if row["verdict"] == "good" else but("aspect", "need")}
    return known | ({"leans": float(row["verdict"] == "pointing")} if row["verdict"] in ("good", "pointing") else {})


def of_disclosure(row: dict[str, Any]) -> Labels:
    """Return the labels of what is told of oneself, by their heads."""
    return {h: of(h, label) if isinstance(label, str) else label for h, label in row.items() if h in MESSAGE.heads}


def alone(_: Path) -> Iterator[Row]:
    """Sentences of friends that can be read by themselves, or lean on what came before."""
    for each in lines(DATA / "alone.jsonl"):
        quoted = _QUOTED.match(each["text"])
        if quoted and each["verdict"] in ("good", "pointing"):
            known: Labels = {"leans": float(each["verdict"] == "pointing")}
            yield Row(quoted[1], each["group"], known, origin="alone", held=is_held_out(each["group"]))


def sloppy(_: Path) -> Iterator[Row]:
    """Messages typed in haste and with care, and what they ask for."""
    for each in lines(DATA / "sloppy.jsonl"):
        for text in dict.fromkeys((each["said"], each["means"])):
            known: Labels = {"asks": of("asks", each["asks"])}
            spans = hasty_borders(text, each["means"])
            yield Row(text, each["means"], known, borders=spans, origin="sloppy", held=each["split"] == "test")


def questions_for_memory(_: Path) -> Iterator[Row]:
    """Messages that ask for what was told, and others of the same chats."""
    for student in lines(DATA / "recollections.jsonl"):
        for asked in student["questions"]:
            known = {"asks": of("asks", "memory"), "weight": 0, "worth": 0, "act": of("act", "companion", "question")}
            yield Row(asked["q"], asked["q"], known, origin="recollections", held=student["split"] == "test")
    for chat in lines(DATA / "chats.jsonl"):
        asked = {each["q"] for each in chat["questions"]}
        for said in chat["messages"]:
            if not said.startswith("#"):
                known = {"asks": of("asks", "memory") if said in asked else but("asks", "memory")} | SAFE
                yield Row(said, chat["chat"], known, origin="chats", held=chat["split"] == "test")


def named(_: Path) -> Iterator[Row]:
    """Sentences of `names.jsonl` with names put in; one template and one name in five is held out."""
    rows = list(lines(DATA / "names.jsonl"))
    names = {each["kind"]: each["names"] for each in rows if "kind" in each}
    rng = random.Random(0)
    for template in (each["template"] for each in rows if "template" in each):
        held = is_held_out(template)
        for turn in range(NAMED if "{" in template else 2):
            text, spans = "", list[tuple[int, int, str]]()
            for piece in re.split(r"(\{\w+\})", template):
                kind = piece.strip("{}")
                if piece.startswith("{") and kind in names:
                    word = rng.choice([name for name in names[kind] if is_held_out(name) == held])
                    spans.append((len(text), len(text) + len(word), kind))
                    text += word
                else:
                    text += piece.replace("{n}", str(rng.randint(5, 16)))
            text = text.lower() if turn % 2 else text[:1].upper() + text[1:]
            yield Row(text, template, names=tuple(spans), origin="named", held=held)


NAMED = 10
"""Sentences made of a template with names."""
SHOWN = {"nothing": "none", "wrong": "misconception", "mended": "understanding", "right": "understanding"}
"""Aspect of what a turn of work shows."""


@dataclass(frozen=True)
class File:
    """A file, each of whose rows is a text: its labels, its group, and whether it is held out.

    group : key of the group; a row without it is by itself, by its id
    held : None: one group in five is held out
    shared : folder of the shared data; None: the file lies in `scripts/data`
    """

    name: str
    origin: str
    labels: Callable[[dict[str, Any]], Labels]
    group: str = "text"
    held: Callable[[dict[str, Any]], bool] | None = None
    shared: str | None = None

    def __call__(self, data: Path) -> Iterator[Row]:
        """Yield the rows."""
        for each in lines((data / self.shared if self.shared else DATA) / f"{self.name}.jsonl"):
            group = str(each[self.group if self.group in each else "id"])
            held = is_held_out(group) if self.held is None else self.held(each)
            yield Row(each["text"], group, self.labels(each), origin=self.origin, held=held)


def is_test(row: dict[str, Any]) -> bool:
    """Return whether a row is of the split that is only measured."""
    return bool(row["split"] == "test")


def of_family(row: dict[str, Any]) -> bool:
    """Return whether a row is of a group that is held out."""
    return "group" in row and is_held_out(str(row["group"]))


SOURCES: tuple[Callable[[Path], Iterator[Row]], ...] = (
    named,
    utterances,
    File("safety", "safety", of_danger, "group", shared="safety"),
    File("safety", "safety", of_danger, "group", held=of_family),
    File("personal", "personal", of_danger, "group"),
    *(File(name, name, of_danger, "group", held=of_family) for name in ("everyday", "others", "school_talk", "warm")),
    File("ordinary", "ordinary", lambda _: SAFE),
    talk,
    File("talk_acts", "acts", of_act),
    clauses_of_talk,
    File("ledger", "ledger", lambda each: {"ledger": ledger(each["ledger"])},
         held=lambda each: "from" in each and is_held_out(each["text"])),
    File("wishes", "wishes", lambda each: {
        "ledger": but("ledger", "wish") if each["kind"] == "none" else of("ledger", each["kind"])}),
    told_in_dialogues,
    File("talk", "talk", of_clause, held=lambda _: False),
    File("turns_of_work", "work", lambda each: {"aspect": of("aspect", SHOWN[each["shown"]]), "weight": 0}, "dialogue"),
    File("needs", "needs", of_need, "group"),
    alone,
    sloppy,
    File("profile", "profile", lambda each: {
        head: of(head, each["label"]) for head in [{"statement": "part", "question": "asked"}[each["about"]]]}),
    File("profile_told", "profile told", lambda each: {"part": of("part", each["label"])}, held=is_test),
    File("work_statements", "work told", lambda each: {"work": of("work", each["label"])}),
    questions_for_memory,
    File("emobank_dev", "emobank", lambda each: {"valence": (each["V"] - 3.0) / 1.5}, "id",
         held=lambda each: each["split"] != "train", shared="valence"),
    File("disclosures", "disclosures", of_disclosure, "family"),
)  # fmt: skip
"""Every source of rows, each of which takes the folder of shared data; of `reports.jsonl` nothing is learned."""
MOST = {
    **{"emobank": 900, "tiage_train": 1600, "recollections": 600, "profile told": 700, "everyday": 1000},
    **{"others": 500, "ordinary": 400, "safety": 2600, "profile": 900, "sloppy": 1800, "mathdial": 250},
    **{"cima": 150, "bridge": 250},
}
"""Rows that are learned from of a source at most; the others are all learned from."""


def all_rows(data: Path, seed: int = 0) -> list[Row]:
    """Read the rows of all sources; what stands in a held-out row is not learned from elsewhere."""
    rows = [row for source in SOURCES for row in source(data) if row.text.strip()]
    apart = {row.text.casefold() for row in rows if row.held}
    learned = [row for row in rows if not row.held and row.text.casefold() not in apart]
    random.Random(seed).shuffle(learned)
    kept, counts = list[Row](), dict[str, int]()
    for row in learned:
        counts[row.origin] = counts.get(row.origin, 0) + 1
        if counts[row.origin] <= MOST.get(row.origin, len(learned)) or ("act" in row.labels and row.origin in TUTORING):
            kept.append(row)
    return merged(kept) + [row for row in rows if row.held]


def merged(rows: Iterable[Row]) -> list[Row]:
    """Return rows of one text each: what several sources know of it together."""
    found: dict[str, Row] = {}
    for row in rows:
        known = found.get(row.text)
        found[row.text] = row if known is None else both(known, row)
    return list(found.values())


def hasty_borders(said: str, means: str) -> tuple[Span, ...] | None:
    """Return where the clauses of a hastily typed text stand, by those of the same words written with care."""
    words, right = list(re.finditer(r"\S+", said)), list(re.finditer(r"\S+", means))
    if len(words) != len(right):
        return None
    begins = {match.start(): i for i, match in enumerate(right)}
    ends = {match.end(): i for i, match in enumerate(right)}
    spans = own_spans(means)
    if not all(start in begins and end in ends for start, end in spans):
        return None
    return tuple((words[begins[start]].start(), words[ends[end]].end()) for start, end in spans)


def both(one: Row, other: Row) -> Row:
    """Return what two rows of one text know of it together."""
    return replace(
        one,
        labels={**other.labels, **one.labels},
        parts=one.parts or other.parts,
        borders=one.borders or other.borders,
        names=other.names if one.names is None else one.names,
    )


def own_spans(text: str) -> tuple[Span, ...]:
    """Return the parts of a text as the earlier network tells them: a teacher of borders."""
    return tuple((each.start, each.end) for each in encoder_network().analyse(text, joined=False).statements)


LINKS = (
    *((". ", 5), (" ", 5), (", ", 4), ("\n", 1), ("! ", 2), ("... ", 1), ("; ", 0.5), (" - ", 0.5), (" and ", 3)),
    *((", and ", 2), (" but ", 1), (" also ", 1), (". also ", 1), (" btw ", 0.5), (". oh and ", 0.5), (". and ", 1)),
    *((" :) ", 0.3), (" lol ", 0.3)),
)
"""What stands between two statements of a message, and how often."""


def joined(rows: Sequence[Row], count: int, seed: int = 0) -> list[Row]:
    """Return rows of two or three statements: each part keeps its labels, and the borders are known.

    Parameters
    ----------
    rows : of one statement each, of 2 to 22 words
    """
    rng, found = random.Random(seed), list[Row]()
    for _ in range(count):
        chosen = rng.sample(rows, 3 if rng.random() < 0.35 else 2)
        bare = rng.random() < 0.35
        text, parts = "", list[tuple[Span, Labels]]()
        for i, row in enumerate(chosen):
            link = "" if i == 0 else rng.choices([link for link, _ in LINKS], [often for _, often in LINKS])[0]
            own = row.text.strip()
            if i < len(chosen) - 1 or bare:
                own = own if own.endswith("?") and rng.random() < 0.7 else own.rstrip(".!,; ")
            if link.startswith((".", "!", ",", ";")) and text.endswith("?"):
                link = " "
            if bare:
                link = link if link.strip(" .!;\n").isalpha() else rng.choice((" ", " ", ", "))
            if i and link.strip() in (",", "and", ", and", "but", "also") and not own.startswith(("I ", "I'")):
                own = own[:1].lower() + own[1:] if own[1:2].islower() and rng.random() < 0.7 else own
            start = len(text) + len(link)
            text += link + own
            parts.append(((start, len(text)), row.labels))
        if bare and rng.random() < 0.7:
            text = text.lower() if len(text.lower()) == len(text) else text
        held = any(row.held for row in chosen)
        spans = tuple(span for span, _ in parts)
        labels = together([row.labels for row in chosen])
        found.append(
            Row(text, " ".join(row.group for row in chosen), labels, tuple(parts), spans, origin="joined", held=held)
        )
    return found


def together(parts: Sequence[Labels]) -> Labels:
    """Return what is known of a message of several statements: the gravest of each ordered head, where all know it."""
    known: Labels = {}
    for head, highest in TOPS.items():
        values = [part.get(head) for part in parts]
        sure = [value for value in values if isinstance(value, (int, float))]
        if highest in sure:
            known[head] = highest
        elif len(sure) == len(parts):
            known[head] = max(sure)
    dangers = [part["concern"] for part in parts if part.get("concern") not in (0, None)]
    if dangers:
        known["concern"] = dangers[0] if len(dangers) == 1 else but("concern", "none")
    elif all(part.get("concern") == 0 for part in parts):
        known["concern"] = 0
    return known


TOPS: dict[str, Label] = {"band": 3, "weight": 3, "lasting": 3, "urgency": 3, "about_self": 1.0}
"""Of ordered heads the label that no other can outdo."""
