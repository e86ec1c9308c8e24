"""Make a model that ships: `python -m scripts.train NAME --data DATA`.

DATA holds the shared sets (`understanding`, `safety`, `tutoring`, `boundaries`, `gold`, `uncertainty`, `contradiction`,
`match`, `valence`); further rows lie in `scripts/data`. What is printed are figures on rows that nothing was learned
from; most lie beside the weights.
"""

import argparse
import json
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

from graphmem.language.encoder import ENCODER_FOLDER
from graphmem.samples import SAMPLES
from graphmem.text.affect import AFFECT_FILE
from graphmem.text.concepts import SENSE_FILE
from graphmem.text.contradiction import ANSWERING_FOLDER, CONTRADICTION_FOLDER, ENDING_FOLDER
from graphmem.text.embedder import EMBEDDER_FOLDER
from graphmem.text.matching import MATCH_FOLDER
from graphmem.text.profile import PROFILE_FILE
from graphmem.text.reminders import LEDGER_FOLDER
from graphmem.text.safety import ENGLISH_FOLDER, LANGUAGES_FOLDER
from graphmem.text.topic_boundaries import BOUNDARY_FILE

from .options import Options


class Model(NamedTuple):
    """A model: its folder, the file there that holds its figures, and whether it needs torch (`make extras`)."""

    folder: Path
    figures: str | None = None
    torch: bool = False


MODELS = {
    "embedder": Model(EMBEDDER_FOLDER),
    "encoder": Model(ENCODER_FOLDER, "figures.json", torch=True),
    "ledger": Model(LEDGER_FOLDER, "figures.json", torch=True),
    "contradiction": Model(CONTRADICTION_FOLDER, "contradiction.json", torch=True),
    "answering": Model(ANSWERING_FOLDER, "figures.json", torch=True),
    "ending": Model(ENDING_FOLDER, "figures.json", torch=True),
    "danger_languages": Model(LANGUAGES_FOLDER),
    "danger": Model(ENGLISH_FOLDER, "danger.json"),
    "affect": Model(AFFECT_FILE.parent, "figures.json"),
    "boundaries": Model(BOUNDARY_FILE.parent, "figures.json"),
    "profile": Model(PROFILE_FILE.parent, "figures.json"),
    "sense": Model(SENSE_FILE.parent, "figures.json"),
    "match": Model(MATCH_FOLDER, "match.json"),
    "surprise": Model(SAMPLES / "surprise", "figures.json"),
    "samples": Model(SAMPLES),
}
"""Every model, by the module of this package whose `make` makes it."""


def main() -> None:
    """Make the model that is named."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", choices=MODELS)
    parser.add_argument("--data", type=Path, required=True, help="folder of the shared sets")
    parser.add_argument("--folder", type=Path, help="folder of the model; by default where it ships")
    parser.add_argument("--original", type=Path, default=Path("build/original"), help="model to cut from")
    parser.add_argument("--batches", type=int, default=1000, help="batches learned from by the encoder")
    parser.add_argument("--checkpoint", type=Path, default=Path("build"), help="folder kept from run to run")
    parser.add_argument("--head", help="of the encoder, fitted anew alone; of answering: weights; of danger: english")
    given = vars(parser.parse_args())
    name = given.pop("name")
    model = MODELS[name]
    given["folder"] = given["folder"] or model.folder
    given["folder"].mkdir(parents=True, exist_ok=True)
    if model.torch:
        import torch

        torch.set_num_threads(1)
    figures = json.dumps(import_module(f"scripts.train.{name}").make(Options(**given)), indent=1)
    if model.figures is not None:
        (given["folder"] / model.figures).write_text(figures + "\n", "utf-8")
    print(figures)


if __name__ == "__main__":
    main()
