"""Training of networks whose upper layers are their own, for the scripts that make one: they need torch."""

import random
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from train.tower import WARM

BATCH, TOKENS, SEED, RATE, SMOOTHING = 32, 128, 0, 1.5e-4, 0.05

Array = NDArray[np.float32]
Item = TypeVar("Item", bound=tuple[str, Any])
Batch = TypeVar("Batch")


def typed(text: str, rng: random.Random) -> str:
    """A text as it might be typed: without apostrophes, capitals or full stop."""
    chance = rng.randrange(6)
    if chance == 0:
        text = text.replace("'", "").replace("’", "").rstrip(".!")
    return text.lower() if chance in (0, 1) else text


def of_like_length(items: list[Item], rng: random.Random) -> Iterator[list[Item]]:
    """Items, each a text and what is known of it, in batches of like length, in random order."""
    rng.shuffle(items)
    for start in range(0, len(items), BATCH * 12):
        part = sorted(items[start : start + BATCH * 12], key=lambda item: len(item[0]))
        pieces = [part[i : i + BATCH] for i in range(0, len(part), BATCH)]
        rng.shuffle(pieces)
        yield from pieces


def fit(
    network: Any,
    epochs: int,
    batches_of: Callable[[random.Random], Iterable[Batch]],
    error_of: Callable[[Batch], Tensor],
) -> None:
    """Train a network: AdamW, the rate warms up and then falls to nothing, gradients are bounded."""
    groups = network.groups()
    optimiser = torch.optim.AdamW([{"params": g["params"], "lr": 0.0} for g in groups], weight_decay=0.01)
    steps = epochs * sum(1 for _ in batches_of(random.Random(0)))
    rng, step, began = random.Random(SEED), 0, time.time()
    for epoch in range(epochs):
        network.train()
        total = 0.0
        for batch in batches_of(rng):
            share = step / steps
            for given, group in zip(optimiser.param_groups, groups, strict=True):
                given["lr"] = group["rate"] * min(1.0, share / WARM) * max(0.0, 1.0 - share)
            error = error_of(batch)
            optimiser.zero_grad()
            error.backward()
            nn.utils.clip_grad_norm_(network.parameters(), 1.0)
            optimiser.step()
            step, total = step + 1, total + float(error.detach())
        print(f"epoch {epoch + 1}: loss {total * epochs / steps:.3f}, {time.time() - began:.0f} s", flush=True)
    network.eval()
