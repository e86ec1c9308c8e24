"""Train the encoder of `graphmem/language` and write it with its figures: `python -m scripts.train --data DATA`.

DATA holds the shared sets (`understanding`, `safety`, `tutoring`, `boundaries`, `gold`, `uncertainty`,
`contradiction`, `valence`); further rows lie in `scripts/data`. `figures.json` beside the weights tells how the network
does on rows that nothing was learned from, and how the networks before it do. Training goes on from the checkpoint,
else from the weights that ship; with 1,000 batches on two busy cores that takes half an hour. Needs torch and
scikit-learn.
"""

import argparse
import json
from pathlib import Path

import torch

from graphmem.language.encoder import ENCODER_FOLDER, encoder_network

from . import encoder, figures
from .sources import all_rows

Figures = dict[str, float]


def write_figures(folder: Path, new: Figures, before: Figures) -> None:
    """Write figures beside the weights."""
    found = {
        name: {key: round(value, 3) for key, value in each.items()}
        for name, each in (("held out", new), ("networks before", before))
    }
    (folder / "figures.json").write_text(json.dumps(found, indent=1) + "\n", "utf-8")
    print(json.dumps(found, indent=1))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder of the shared sets")
    parser.add_argument("--batches", type=int, default=1000, help="batches learned from; some 300 are an epoch")
    parser.add_argument("--checkpoint", type=Path, default=Path("build"), help="folder that is kept from run to run")
    args = parser.parse_args()
    torch.set_num_threads(1)
    args.checkpoint.mkdir(exist_ok=True)
    rows = all_rows(args.data)
    encoder.write(*encoder.train(rows, args.checkpoint / "encoder.pt", args.batches))
    write_figures(ENCODER_FOLDER, figures.of_encoder(rows, encoder_network()), figures.today(rows))


if __name__ == "__main__":
    main()
