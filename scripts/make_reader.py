"""Make the reader: a linear head for each question over three layers of all-MiniLM-L6-v2.

    python scripts/make_reader.py --data DATA --source ORIGINAL

DATA holds `understanding/utterances.jsonl`, `safety/safety.jsonl` and `tutoring/*.jsonl`; ORIGINAL is as for
`make_embedder.py`. A message answers only the questions it has labels for: rows of `safety` know the danger, ordinary
tutoring talk that there is none, `tests/data` (its part "dev") ledger, kind, modality and domain. One group in five is
held out (`is_held_out`); of the others one in five chooses temperatures and cuts.

The figures lie in `reader.json`, the hashes of the rows trained on in `trained.npy`, both beside the weights.
"""

import argparse
import hashlib
import json
import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from make_embedder import MICROSOFT, Graph, Weights, embeddings, layer, read_safetensors
from numpy.typing import NDArray
from onnx import TensorProto, helper
from rich.progress import track
from scipy.optimize import minimize_scalar  # type: ignore[import-untyped]
from sklearn.linear_model import LogisticRegression, Ridge

from graphmem.bench.held_out import is_held_out, save_trained
from graphmem.bench.matching import auroc
from graphmem.bench.understanding import (
    LabelledUtterance,
    learned_guess,
    read_utterances,
    rule_guess,
    understanding_figures,
)
from graphmem.text.embedder import DIMENSION, EMBEDDER_FOLDER, Encode, onnx_encoder
from graphmem.text.information import passes
from graphmem.text.reader import (
    BANDS,
    CONCERNS,
    DOMAINS,
    HEADS,
    KINDS,
    LEDGER_CATEGORIES,
    MODALITIES,
    READER_FOLDER,
    WIDTH,
    read_cuts,
    readings,
)

LAYERS = (1, 3, 5)
"""The layers whose means are seen: in the last alone much of how a thing is said is gone (bands 0.70 against 0.77)."""
STRENGTH, RIDGE, RARITY, SCALE = 2.0, 3.0, 0.4, 3.0
TALK, TALK_CHARACTERS = 600, 250
"""Ordinary messages taken beside the labelled ones, and their greatest length."""
STEPS = np.linspace(0.2, 2.9, 136)

Array = NDArray[np.float32]
Answers = dict[str, float]
"""Of each question the index of its answer; -1 is "some danger" and -k "not category k"."""


@dataclass(frozen=True, eq=False)
class Row:
    """A message and what is known of it."""

    text: str
    group: str
    origin: str
    answers: Answers


def read_all(data: Path, labelled: Path, domains: dict[str, str]) -> list[Row]:
    utterances = read_utterances(data / "understanding" / "utterances.jsonl")
    rows = [Row(u.text, u.group, u.origin, of_utterance(u, domains)) for u in utterances]
    rows += [of_safety(each) for each in lines(data / "safety" / "safety.jsonl")]
    rows += [
        Row(r["text"], f"ledger {r['text']}", "labelled", {"ledger": ledger_of(r["category"])})
        for r in lines(labelled / "ledger_labelled.jsonl")
        if r["split"] == "dev"
    ]
    rows += [
        Row(
            r["text"],
            f"kind {r['text']}",
            "labelled",
            {
                "kind": index(KINDS, r["kind"]),
                "modality": index(MODALITIES, r["modality"]),
                "domain": index(DOMAINS, r["domain"]),
            },
        )
        for r in lines(labelled / "extraction_labelled.jsonl")
        if r["split"] == "dev"
    ]
    return rows + talk(data / "tutoring", {row.text for row in rows})


def lines(path: Path) -> Iterator[dict[str, Any]]:
    return map(json.loads, path.read_text(encoding="utf-8").splitlines())


def index(names: Sequence[Any], name: str) -> int:
    return [str(each) for each in names].index(name)


def ledger_of(category: str | None) -> int:
    return 0 if category in (None, "none") else index(LEDGER_CATEGORIES, str(category))


def of_utterance(u: LabelledUtterance, domains: dict[str, str]) -> Answers:
    answers: Answers = {"band": BANDS.index(u.band), "ledger": ledger_of(u.ledger), "lasting": u.lasting}
    answers |= {"about_self": float(u.about_self), "valence": u.valence}
    if u.kind is not None and u.modality is not None:
        answers |= {"kind": index(KINDS, u.kind), "modality": index(MODALITIES, u.modality)}
    answers |= {"concern": -1} if u.ledger == "threat" else {"concern": 0, "urgency": 0}
    if u.origin != "written" or u.kind == "concept":
        answers["domain"] = 0
    elif u.id in domains:
        answers["domain"] = index(DOMAINS, domains[u.id])
    return answers


def of_safety(row: dict[str, Any]) -> Row:
    concern = CONCERNS.index(row["concern"])
    answers: Answers = {"concern": concern, "urgency": row["urgency"]}
    answers |= {"band": 3, "ledger": ledger_of("threat")} if concern else {"ledger": -ledger_of("threat")}
    if concern and row["who"] == "self":
        answers["about_self"] = 1.0
    return Row(row["text"], row["id"], "safety", answers)


def talk(folder: Path, known: set[str]) -> list[Row]:
    """Ordinary messages of tutoring talk: nobody is in danger."""
    answers: Answers = {"concern": 0, "urgency": 0, "ledger": -ledger_of("threat"), "domain": 0}
    found = {
        turn["text"]: Row(turn["text"], f"{name}:{dialogue['dialogue_id']}", name, answers)
        for name in ("mathdial", "cima", "bridge")
        for dialogue in lines(folder / f"{name}.jsonl")
        for turn in dialogue["turns"]
        if turn["speaker"] == "student" and turn["text"] not in known and len(turn["text"]) < TALK_CHARACTERS
    }
    rows = list(found.values())
    random.Random(7).shuffle(rows)
    return rows[:TALK]


def temperatures(given: Array, rows: Sequence[Row]) -> Array:
    """For each number of the output what it is divided by, so that the chances of its question are calibrated."""
    made, start = np.ones(WIDTH, np.float32), 0
    for name, width in HEADS.items():
        part, own = given[:, start : start + width], slice(start, start + width)
        known = [i for i, row in enumerate(rows) if row.answers.get(name, -1) >= 0]
        truth = np.array([int(rows[i].answers[name]) for i in known])
        start += width
        if width > 1 and len(known) > 0:
            made[own] = fitted_temperature(part[known], truth)
    return made


def fitted_temperature(part: Array, truth: NDArray[np.int64]) -> float:
    def error(log_temperature: float) -> float:
        scaled = part / np.exp(log_temperature)
        scaled = scaled - scaled.max(1, keepdims=True)
        return float(np.mean(np.log(np.exp(scaled).sum(1)) - scaled[np.arange(len(truth)), truth]))

    return float(np.exp(minimize_scalar(error, bounds=(-1.5, 1.5), method="bounded").x))


def best_cuts(expected: Array, band: NDArray[np.int64]) -> list[float]:
    """The expected bands at which the bands begin: each puts most rows on its right side, near ones alike."""
    return [
        float(
            np.mean(STEPS[(hits := [np.mean((expected >= c) == (band >= k)) for c in STEPS]) >= np.max(hits) - 0.002])
        )
        for k in (1, 2, 3)
    ]


def build(w: Weights, weight: Array | None = None, bias: Array | None = None) -> onnx.ModelProto:
    """`input_ids`, int64 of shape (1, tokens), to `answers`, float32 (1, WIDTH); without heads to what is seen."""
    g = Graph()
    x, seen = embeddings(g, w), []
    for i in range(max(LAYERS) + 1):
        x = layer(g, x, w, f"encoder.layer.{i}")
        if i in LAYERS:
            seen.append(g.op("LpNormalization", g.op("ReduceMean", x, g.indices(1), keepdims=0), axis=-1, p=2))
    both = g.op("Concat", *seen, axis=-1)
    if weight is None or bias is None:
        g.nodes.append(helper.make_node("Identity", [both], ["answers"]))
    else:
        g.nodes.append(helper.make_node("Gemm", [both, g.constant(weight), g.constant(bias)], ["answers"], transB=1))
    ids = helper.make_tensor_value_info("input_ids", TensorProto.INT64, [1, "tokens"])
    width = DIMENSION * len(LAYERS) if weight is None else WIDTH
    answers = helper.make_tensor_value_info("answers", TensorProto.FLOAT, [1, width])
    graph = helper.make_graph(g.nodes, "reader", [ids], [answers], g.constants)
    opsets = [helper.make_opsetid("", 18), helper.make_opsetid(MICROSOFT, 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=9, producer_name="graphmem")


def fitted_heads(seen: Array, rows: Sequence[Row]) -> tuple[Array, Array]:
    """A linear head for each question, over what the layers see: shapes (WIDTH, d) and (WIDTH,)."""
    weights, biases = [], []
    for name, width in HEADS.items():
        # Danger is always band three, but its look-alikes have no band: as a lesson on bands it would mislead.
        known = [i for i, row in enumerate(rows) if name in row.answers and (name != "band" or row.origin != "safety")]
        known = [i for i in known if name == "valence" or rows[i].answers[name] >= 0]
        truth = np.array([rows[i].answers[name] for i in known])
        if name == "valence":
            ridge = Ridge(RIDGE).fit(seen[known], truth)
            weights.append(ridge.coef_[None, :])
            biases.append(np.array([ridge.intercept_]))
            continue
        rare = {c: (len(truth) / max(1, int((truth == c).sum()))) ** RARITY for c in range(width)}
        shared = name == "band" or width == 1
        model = LogisticRegression(C=STRENGTH / 2 if width == 1 else STRENGTH, max_iter=2000)
        model.set_params(class_weight=None if shared else rare).fit(seen[known], truth.astype(int))
        weights.append(model.coef_)
        biases.append(model.intercept_)
    return np.concatenate(weights).astype(np.float32), np.concatenate(biases).astype(np.float32)


def chooses(row: Row) -> bool:
    """True if a row chooses what is not learned; one group in five, none of them held out."""
    return row.origin in ("safety", "written") and hashlib.sha256(row.group.encode()).digest()[0] % 5 == 1


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder of understanding, safety and tutoring")
    parser.add_argument("--source", type=Path, required=True, help="folder of the original model.safetensors")
    parser.add_argument("--labelled", type=Path, default=Path("tests/data"), help="folder of the labelled sentences")
    parser.add_argument("--domains", type=Path, default=Path(__file__).with_name("reader_domains.json"))
    parser.add_argument("--out", type=Path, default=READER_FOLDER, help="folder to write to")
    args = parser.parse_args()

    domains = json.loads(args.domains.read_text(encoding="utf-8"))
    rows = read_all(args.data, args.labelled, domains)
    learning = [row for row in rows if not is_held_out(row.group) and not chooses(row)]
    choosing = [row for row in rows if not is_held_out(row.group) and chooses(row)]
    w = read_safetensors(args.source / "model.safetensors")
    args.out.mkdir(parents=True, exist_ok=True)
    onnx.save(build(w), args.out / "model.onnx")
    encode = onnx_encoder(args.out, 1, EMBEDDER_FOLDER)
    seen = [np.concatenate([encode([row.text]) for row in track(part)]) * SCALE for part in (learning, choosing)]
    weight, bias = fitted_heads(seen[0].astype(np.float32), learning)
    given = (seen[1] @ weight.T + bias).astype(np.float32)
    divisors = temperatures(given, choosing)
    banded = [i for i, row in enumerate(choosing) if row.origin != "safety"]
    expected = np.array([each.band @ np.arange(4) for each in readings(given[banded] / divisors, (0.5, 1.5, 2.5))])
    cuts = best_cuts(expected, np.array([int(choosing[i].answers["band"]) for i in banded]))
    onnx.save(build(w, weight / divisors[:, None] * SCALE, bias / divisors), args.out / "model.onnx")
    (args.out / "reader.json").write_text(json.dumps({"cuts": cuts}), encoding="utf-8")
    save_trained(args.out / "trained.npy", [(row.text,) for row in (*learning, *choosing)])
    judge(args.data, args.out)


def judge(data: Path, out: Path) -> None:
    """Add the figures of what was written, on the rows held out, to the file beside it."""
    rows = [u for u in read_utterances(data / "understanding" / "utterances.jsonl") if is_held_out(u.group)]
    encode, cuts = onnx_encoder(out, 1, EMBEDDER_FOLDER), read_cuts(out)
    began = time.process_time()
    read = readings(np.concatenate([encode([row.text]) for row in rows]), cuts)
    spent = (time.process_time() - began) / len(rows) * 1000
    guesses = [learned_guess(each) for each in read]
    figures = understanding_figures(rows, guesses)
    figures |= {f"rules_{k}": v for k, v in understanding_figures(rows, [rule_guess(r.text) for r in rows]).items()}
    for origin in sorted({row.origin for row in rows}):
        own = [(row, guess) for row, guess in zip(rows, guesses, strict=True) if row.origin == origin]
        figures[f"band_accuracy_{origin}"] = float(np.mean([BANDS[passes(g.snr)] == row.band for row, g in own]))
        figures[f"threes_told_{origin}"] = float(np.mean([passes(g.snr) == 3 for _, g in own]))
    figures["lasting_accuracy"] = float(
        np.mean([e.lasting.argmax() == r.lasting for r, e in zip(rows, read, strict=True)])
    )
    figures["valence_r"] = float(np.corrcoef([e.valence for e in read], [row.valence for row in rows])[0, 1])
    figures |= danger_figures(data, encode, cuts) | {"cpu_ms_a_message": spent, "rows": len(rows)}
    known = json.loads((out / "reader.json").read_text(encoding="utf-8"))
    content = {"cuts": known["cuts"], "held_out": {name: round(value, 4) for name, value in figures.items()}}
    (out / "reader.json").write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(content, indent=1))


def danger_figures(data: Path, encode: Encode, cuts: Sequence[float]) -> dict[str, float]:
    """How well danger is told from look-alikes by this network alone."""
    rows = [row for row in lines(data / "safety" / "safety.jsonl") if is_held_out(row["id"])]
    read = readings(np.concatenate([encode([row["text"]]) for row in rows]), cuts)
    chance = np.array([1.0 - each.concern[0] for each in read])
    grave, urgent = (np.array([row["urgency"] >= least for row in rows]) for least in (1, 2))
    limit = np.quantile(chance[~grave], 0.92)
    return {
        "danger_auroc": auroc(chance.tolist(), grave.tolist()),
        "danger_recall_at_8": float(np.mean(chance[grave] > limit)),
        "danger_recall_serious_at_8": float(np.mean(chance[urgent] > limit)),
        "danger_rows": len(rows),
    }


if __name__ == "__main__":
    main()
