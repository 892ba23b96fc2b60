"""`lotor run`: simulate a run here."""

import json

import typer
from rich.console import Console

from lotor.cli import exit_codes
from lotor.cli import run_options as o
from lotor.cli.show import show_result
from lotor.cli.studies import study_of
from lotor.cli.study import Study, Wish, report, simulate
from lotor.core.errors import InputError


def run_command(
    protocol: o.ProtocolArgument,
    policy: o.PolicyOption = None,
    arms: o.ArmsOption = None,
    k: o.KOption = None,
    budget: o.BudgetOption = 1000,
    seed: o.SeedOption = None,
    key_bits: o.KeyBitsOption = None,
    owners: o.OwnersOption = None,
    selection: o.SelectionOption = None,
    slot_bits: o.SlotBitsOption = None,
    workers: o.WorkersOption = None,
    user: o.UserOption = None,
    dimensions: o.DimensionsOption = None,
    epsilon: o.EpsilonOption = None,
    bits: o.BitsOption = None,
    parties: o.PartiesOption = None,
    delay: o.DelayOption = None,
    privacy_budget: o.PrivacyBudgetOption = None,
    delta: o.DeltaOption = None,
    threshold: o.ThresholdOption = None,
    minimum_ratings: o.MinimumRatingsOption = None,
    choose: o.ChooseOption = None,
    sha256: o.Sha256Option = None,
    compare: o.CompareOption = False,
    trajectory: o.TrajectoryOption = False,
    as_json: o.JsonOption = False,
) -> None:
    """Simulate a run here, in one process."""
    if trajectory and not as_json:
        raise InputError("--trajectory goes with --json")
    if compare and protocol == "plain":
        raise InputError("--compare belongs to secure protocols: plain has nothing to compare with")
    options = {
        "k": k,
        "key_bits": key_bits,
        "owners": owners,
        "selection": selection,
        "slot_bits": slot_bits,
        "workers": workers,
        "user": user,
        "dimensions": dimensions,
        "epsilon": epsilon,
        "bits": bits,
        "parties": parties,
        "delay": delay,
        "privacy_budget": privacy_budget,
        "delta": delta,
        "threshold": threshold,
        "minimum_ratings": minimum_ratings,
        "choose": choose,
        "sha256": sha256,
    }
    study = study_of(protocol, Wish(policy, arms, budget, options))
    _carry_out(study, budget, seed, compare=compare, trajectory=trajectory, as_json=as_json)


def _carry_out(
    study: Study, budget: int, seed: int | None, *, compare: bool, trajectory: bool, as_json: bool
) -> None:
    """Run it, beside plain if wanted, and show what came of it."""
    kept, where = compare or trajectory, study.environment
    secure = simulate(study.protocol, where, budget, seed, trajectory=kept)
    compared = study.plain if compare else None
    plain = None if compared is None else simulate(compared, where, budget, secure.seed)
    if as_json:
        typer.echo(json.dumps(report(study, secure, plain, trajectory=trajectory)))
    elif plain is None or study.show is None:
        show_result(Console(), secure)
    else:
        study.show(Console(), secure, plain)
    if plain is not None and not secure.agrees_with(plain):
        raise typer.Exit(exit_codes.DIFFERENT)
