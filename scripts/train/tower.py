"""Layers that are trained, above layers that stay: in torch, with bfloat16 products where the processor has them."""

import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

import torch
from torch import Tensor, nn
from torch.nn import functional

from graphmem.progress import print_line, tracked

from .graph import PARTS, Weights

DROPOUT, WARM, LAYER_DECAY = 0.1, 0.06, 0.85
HEAD_RATE = 1e-3
TOKENS_AT_ONCE = 2048
"""Tokens of a batch, padding included."""
BATCH, SEED, SMOOTHING = 32, 0, 0.05
"""Texts of a batch of like length; seed of every training; share of a label that is left for the others."""
Item = TypeVar("Item")
Pair = TypeVar("Pair", bound=tuple[str, Any])


class Layer(nn.Module):
    """One layer of the network, begun from weights."""

    def __init__(self, w: Weights, number: int) -> None:
        super().__init__()
        self.prefix = f"encoder.layer.{number}"
        self.parts = nn.ModuleList(begun(w, f"{self.prefix}.{name}", norm=name.endswith("LayerNorm")) for name in PARTS)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        *projections, out, first, wide, narrow, second = self.parts
        query, key, value = (part(x).view(*x.shape[:2], 12, 32).transpose(1, 2) for part in projections)
        # Written out: the fused one takes five times as long for short texts on a processor.
        given = (query @ key.transpose(2, 3) * 32**-0.5).float().masked_fill(~mask, -1e4).softmax(3)
        seen = given.to(value.dtype) @ value
        x = first(x + out(seen.transpose(1, 2).reshape(x.shape)))
        return second(x + functional.dropout(narrow(functional.gelu(wide(x))), DROPOUT, self.training))

    def weights(self) -> Weights:
        return {
            f"{self.prefix}.{name}.{kind}": getattr(part, kind).detach().float().numpy()
            for name, part in zip(PARTS, self.parts, strict=True)
            for kind in ("weight", "bias")
        }


def begun(w: Weights, name: str, *, norm: bool) -> nn.Module:
    """Return a part of a layer with its weights."""
    weight, bias = (torch.tensor(w[f"{name}.{kind}"]) for kind in ("weight", "bias"))
    part = nn.LayerNorm(len(bias), 1e-12) if norm else nn.Linear(weight.shape[1], weight.shape[0])
    part.load_state_dict({"weight": weight, "bias": bias})
    return part


class Tower(nn.Module):
    """Layers of a network that are trained further; the deeper, the slower."""

    def __init__(self, w: Weights, numbers: Iterable[int], rate: float) -> None:
        super().__init__()
        self.layers = nn.ModuleList(Layer(w, i) for i in numbers)
        self.rate = rate

    def upper(self, hidden: Tensor, mask: Tensor) -> Tensor:
        """Return what the layers see of tokens, (texts, tokens, 384); `mask` tells which tokens there are."""
        x = functional.dropout(hidden, DROPOUT, self.training)
        for each in self.layers:
            x = each(x, mask[:, None, None, :])
        return x

    def weights(self) -> Weights:
        """Return the weights of the layers by name."""
        return {name: value for each in self.layers for name, value in each.weights().items()}

    def groups(self, *heads: nn.Module) -> list[dict[str, Any]]:
        """Return parameters with their rates."""
        found = [
            {"params": list(each.parameters()), "rate": self.rate * LAYER_DECAY ** (len(self.layers) - 1 - i)}
            for i, each in enumerate(self.layers)
        ]
        return [*found, {"params": [p for head in heads for p in head.parameters()], "rate": HEAD_RATE}]


def batches(items: Sequence[Item], length: Callable[[Item], int], rng: random.Random) -> list[list[Item]]:
    """Return items in batches of like length, of so many tokens at most, in random order."""
    keyed = sorted(((length(item) * (1 + 0.1 * rng.random()), item) for item in items), key=lambda pair: pair[0])
    found: list[list[Item]] = [[]]
    for size, item in keyed:
        if found[-1] and (len(found[-1]) + 1) * size > TOKENS_AT_ONCE:
            found.append([])
        found[-1].append(item)
    rng.shuffle(found)
    return found


def epochs(
    items: Sequence[Item], length: Callable[[Item], int], rng: random.Random, count: int
) -> list[list[list[Item]]]:
    """Return so many batches in all, by epochs."""
    found: list[list[list[Item]]] = []
    while count > 0:
        found.append(batches(items, length, rng)[:count])
        count -= len(found[-1])
    return found


def typed(text: str, rng: random.Random) -> str:
    """Return a text as it might be typed: without apostrophes, capitals or full stop."""
    chance = rng.randrange(6)
    if chance == 0:
        text = text.replace("'", "").replace("’", "").rstrip(".!")
    return text.lower() if chance in (0, 1) else text


def of_like_length(items: list[Pair], rng: random.Random) -> Iterator[list[Pair]]:
    """Yield items, each a text and what is known of it, in batches of like length, in random order."""
    rng.shuffle(items)
    for start in range(0, len(items), BATCH * 12):
        part = sorted(items[start : start + BATCH * 12], key=lambda item: len(item[0]))
        pieces = [part[i : i + BATCH] for i in range(0, len(part), BATCH)]
        rng.shuffle(pieces)
        yield from pieces


def pooled(below: Tensor, x: Tensor, mask: Tensor) -> Tensor:
    """Return what a head sees of texts: the mean of a lower layer, the mean and the largest of the last."""
    there = mask[..., None]
    count = there.sum(1)
    return torch.cat(
        [(below * there).sum(1) / count, (x * there).sum(1) / count, x.masked_fill(~there, -1e4).amax(1)], 1
    )


def padded(rows: Sequence[Tensor]) -> tuple[Tensor, Tensor]:
    """Return rows of one number of tokens, and which tokens there are."""
    found = nn.utils.rnn.pad_sequence(list(rows), batch_first=True)
    return found, torch.arange(found.shape[1]) < torch.tensor([len(row) for row in rows])[:, None]


def fit(
    network: nn.Module,
    groups: Sequence[dict[str, Any]],
    order: Sequence[Sequence[Sequence[Item]]],
    error_of: Callable[[Sequence[Item]], Tensor],
    checkpoint: Path | None = None,
) -> None:
    """Train a network: AdamW, the rate warms up and then falls to nothing, gradients are bounded.

    Products are in bfloat16 where the processor has wide registers; elsewhere they take ten times as long in it.

    Parameters
    ----------
    order : of each epoch its batches
    checkpoint : file that the network is kept in after each epoch
    """
    optimiser = torch.optim.AdamW([{"params": g["params"], "lr": 0.0} for g in groups], weight_decay=0.01)
    steps, step = sum(map(len, order)), 0
    for number, epoch in enumerate(order, 1):
        network.train()
        total = 0.0
        for batch in tracked(epoch, f"Epoch {number} of {len(order)}"):
            share = step / steps
            for given, group in zip(optimiser.param_groups, groups, strict=True):
                given["lr"] = group["rate"] * min(1.0, share / WARM) * max(0.0, 1.0 - share)
            with torch.autocast("cpu", torch.bfloat16, enabled=torch.backends.cpu.get_cpu_capability() == "AVX512"):
                error = error_of(batch)
            optimiser.zero_grad()
            error.backward()
            nn.utils.clip_grad_norm_(network.parameters(), 1.0)
            optimiser.step()
            step, total = step + 1, total + float(error.detach())
        print_line(f"epoch {number}: loss {total / len(epoch):.3f}")
        if checkpoint is not None:
            torch.save(network.state_dict(), checkpoint)
    network.eval()
