"""The experiment on violated expectations, in a database of its own, with progress and a table."""

from dataclasses import asdict
from pathlib import Path

from rich.progress import Progress

from graphmem.app import Graphmem
from graphmem.bench.harness import console, in_process
from graphmem.bench.recorded import held_out
from graphmem.bench.voe import (
    ENOUGH,
    SIGNIFICANT,
    WANTED,
    Findings,
    chosen,
    compare,
    findings,
    with_baselines,
)
from graphmem.commands.frame import Printout
from graphmem.errors import InvalidInput
from graphmem.samples.dialogues import load_dialogues
from graphmem.settings import Settings


def run_experiment(settings: Settings, name: str, file: Path, conversations: int | None, seed: int) -> Printout:
    """Run an experiment on recorded dialogues.

    Parameters
    ----------
    settings : Settings, whose mind answers and whose jars are used for a database of the experiment's own
    name : str, `voe`: violation of expectation, the loop with facts and without
    file : Path, dialogues, one JSON object a line
    conversations : int >= 1, how many take part, drawn by student with `seed`; None means all
    seed : int >= 0

    Raises
    ------
    InvalidInput    no such experiment, or a file in which nothing can be expected

    Source: spec 4.
    """
    if name != "voe":
        raise InvalidInput(f"There is no experiment {name}: there is voe.")
    dialogues = load_dialogues(file)
    by_student = chosen(dialogues, conversations, seed)
    total = 2 * sum(map(len, by_student.values()))
    with Progress(console=console, disable=not console.is_terminal) as progress:
        task = progress.add_task("Talking", total=total)

        async def compared(gm: Graphmem) -> Findings:
            # Of a measured file nothing may have been learned, also not from what takes no part.
            async with held_out(gm, dialogues) as fair:
                found = findings(await compare(fair, by_student, lambda: progress.advance(task)))
                return await with_baselines(fair, found, by_student, seed)

        # Hashing passwords is not tried here, and everything is gone at the end.
        found = in_process(settings, compared, argon2_ops=1, argon2_mib=8)
    result = asdict(found) | {"reached": found.reached}
    about = {"experiment": name, "file": file.name, "model": settings.model, "seed": seed}
    return Printout(about | {"students": len(by_student), "result": result}, [experiment_table(found, settings.model)])


def experiment_table(found: Findings, model: str) -> str:
    """Format the results as a table for people to read.

    Parameters
    ----------
    found : Findings
    model : str, who answered
    """
    improvement = "not defined" if found.improvement is None else f"{found.improvement:+.1%}"
    yes = {True: "yes", False: "no"}
    arms = [
        ("with memory", found.matched_with, found.rate_with, found.mean_match_with),
        ("without memory", found.matched_without, found.rate_without, found.mean_match_without),
    ]
    lines = [
        f"{found.conversations} conversations an arm, each in both arms; answered by: {model}",
        "",
        f"{'arm':<16}{'turns':>8}{'matched':>9}{'rate':>8}{'mean match':>12}",
        *(f"{arm:<16}{found.turns:>8}{hits:>9}{rate:>8.1%}{mean:>12.3f}" for arm, hits, rate, mean in arms),
        "",
        *(
            f"{guess:<33}{rate:>8.1%}"
            for guess, rate in (
                ("repeating the message before", found.rate_parrot),
                ("a message of another dialogue", found.rate_random),
            )
            if rate is not None
        ),
        "",
        f"relative improvement    {improvement}",
        f"difference of rates     {found.difference:+.1%}",
        f"chi-squared             {found.chi_squared:.3f}, p = {found.p:.3g} (1 df, no Yates' correction)",
        f"McNemar                 p = {found.mcnemar_p:.3g} (exact; {found.only_with} turns matched only with it, "
        f"{found.only_without} only without)",
        f"facts                   {found.facts_learned} learned; recalled after {found.with_facts_recalled} turns",
        f"memories                recalled after {found.with_memories_recalled} turns",
        "",
        f"p < {SIGNIFICANT}: {yes[found.significant]}; improvement of {WANTED:.0%} or more: {yes[found.improved]}; "
        f"both: {yes[found.reached]}",
    ]
    if not found.tested:
        lines.append("Not tested: what was foreseen is the same in both arms, so nothing remembered was used for it.")
    if not found.enough:
        lines.append(f"Fewer than {ENOUGH} conversations an arm: give more dialogues before believing this.")
    if found.degraded:
        lines.append(f"In {found.degraded} turns the model failed and the offline mind answered.")
    return "\n".join(lines)
