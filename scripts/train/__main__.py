"""Train a network of `graphmem/language` and write it with its figures: `python -m scripts.train encoder --data DATA`.

DATA holds the shared sets (`understanding`, `safety`, `tutoring`, `boundaries`, `gold`, `uncertainty`,
`contradiction`, `valence`); further rows lie in `scripts/data`. `figures.json` beside the weights tells how the network
does on rows that nothing was learned from, and how the networks before it do. Training goes on from the checkpoint,
where there is one; with 1,000 batches on two busy cores that takes half an hour. Needs torch and scikit-learn.
"""

import argparse
import json
from pathlib import Path

import torch

from graphmem.language.encoder import ENCODER_FOLDER, encoder_network
from graphmem.language.pairs import PAIRS_FOLDER, pairs_network
from graphmem.text.ending import ENDING_FOLDER
from graphmem.text.reader import READER_FOLDER

from . import encoder, figures, pair_figures, pairs
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
    parser.add_argument("network", choices=("encoder", "pairs"))
    parser.add_argument("--data", type=Path, required=True, help="folder of the shared sets")
    parser.add_argument("--batches", type=int, default=1000, help="batches learned from; some 300 are an epoch")
    parser.add_argument("--checkpoint", type=Path, default=Path("build"), help="folder that is kept from run to run")
    args = parser.parse_args()
    torch.set_num_threads(1)
    args.checkpoint.mkdir(exist_ok=True)
    if args.network == "encoder":
        rows = all_rows(args.data)
        encoder.write(*encoder.train(rows, READER_FOLDER, args.checkpoint / "encoder.pt", args.batches))
        write_figures(ENCODER_FOLDER, figures.of_encoder(rows, encoder_network()), figures.today(rows))
    else:
        known = pairs.all_pairs(args.data)
        pairs.train(known, ENDING_FOLDER, args.checkpoint / "pairs.pt", args.batches)
        write_figures(PAIRS_FOLDER, pair_figures.of_network(known, pairs_network()), pair_figures.today(known))


if __name__ == "__main__":
    main()
