"""Train a network of `graphmem/language` and write it with its figures: `python -m scripts.train encoder --data DATA`.

DATA holds the shared sets (`understanding`, `safety`, `tutoring`, `boundaries`, `gold`, `uncertainty`, `match`,
`contradiction`, `valence`); further rows lie in `scripts/data`. Needs torch and scikit-learn.
"""

import argparse
from pathlib import Path

import torch


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("network", choices=("encoder", "pairs"))
    parser.add_argument("--data", type=Path, required=True, help="folder of the shared sets")
    parser.add_argument("--batches", type=int, default=1000, help="batches learned from; some 260 are an epoch")
    parser.add_argument(
        "--checkpoint", type=Path, default=Path("build"), help="folder of what is kept after each epoch"
    )
    args = parser.parse_args()
    torch.set_num_threads(1)
    args.checkpoint.mkdir(exist_ok=True)
    if args.network == "encoder":
        from graphmem.text.reader import READER_FOLDER

        from . import encoder
        from .sources import all_rows

        network, choosing = encoder.train(
            all_rows(args.data), READER_FOLDER, args.checkpoint / "encoder.pt", args.batches
        )
        encoder.write(network, choosing)
    else:
        from graphmem.text.ending import ENDING_FOLDER

        from . import pairs

        pairs.train(pairs.all_pairs(args.data), ENDING_FOLDER, args.checkpoint / "pairs.pt", args.batches)


if __name__ == "__main__":
    main()
