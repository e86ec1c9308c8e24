"""Train the encoder of `graphmem/language` and write it with its figures: `python -m scripts.train --data DATA`.

DATA holds the shared sets (`understanding`, `safety`, `tutoring`, `boundaries`, `gold`, `uncertainty`,
`contradiction`, `valence`); further rows lie in `scripts/data`. `figures.json` beside the weights tells how the network
does on rows that nothing was learned from. Training goes on from the checkpoint, else from the weights that ship; with
1,000 batches on two busy cores that takes half an hour. With `--refit HEAD` only that head is fitted anew, in minutes,
and all else stays as it is. Needs torch and scikit-learn.
"""

import argparse
import json
from pathlib import Path

import numpy as np
import torch

from graphmem.bench.talks import text_hash, trained_hashes
from graphmem.language.encoder import ENCODER_FOLDER, encoder_network
from graphmem.language.heads import MESSAGE

from . import encoder, figures
from .refit import refit, refit_shown
from .sources import all_rows

TRAINED = ENCODER_FOLDER / "trained.npy"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder of the shared sets")
    parser.add_argument("--batches", type=int, default=1000, help="batches learned from; some 300 are an epoch")
    parser.add_argument("--checkpoint", type=Path, default=Path("build"), help="folder that is kept from run to run")
    parser.add_argument("--refit", choices=(*MESSAGE.heads, "shown"), help="head to fit anew on the layers as they are")
    args = parser.parse_args()
    torch.set_num_threads(1)
    args.checkpoint.mkdir(exist_ok=True)
    rows = all_rows(args.data)
    if args.refit == "shown":
        refit_shown(rows)
    elif args.refit:
        refit(rows, args.refit)
    else:
        encoder.write(*encoder.train(rows, args.checkpoint / "encoder.pt", args.batches))
    known = trained_hashes(TRAINED) | {text_hash(row.text) for row in rows if not row.held}
    np.save(TRAINED, np.array(sorted(known), dtype=np.int64))
    found = {key: round(value, 3) for key, value in figures.of_encoder(rows, encoder_network()).items()}
    (ENCODER_FOLDER / "figures.json").write_text(json.dumps({"held out": found}, indent=1) + "\n", "utf-8")
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
