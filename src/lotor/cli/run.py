"""`lotor run`: simulate a run here."""

import json

import typer
from rich.console import Console

from lotor.cli import exit_codes
from lotor.cli import run_options as o
from lotor.cli.show import show_result
from lotor.cli.studies import study_of
from lotor.cli.study import Outcome, Study, Wish, document, report, simulate
from lotor.core.errors import InputError
from lotor.protocols.party import Protocol
from lotor.runtime import Result


def run_command(
    protocol: o.ProtocolArgument,
    policy: o.PolicyOption = None,
    arms: o.ArmsOption = None,
    k: o.KOption = None,
    budget: o.RunBudgetOption = None,
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
    index: o.IndexOption = None,
    switch: o.SwitchOption = None,
    eta: o.EtaOption = None,
    security: o.SecurityOption = None,
    stages: o.StagesOption = None,
    noise_bits: o.NoiseBitsOption = None,
    mean_bound: o.MeanBoundOption = None,
    rms_length: o.RmsLengthOption = None,
    insecure_degree: o.InsecureDegreeOption = None,
    noise_sd: o.NoiseSdOption = None,
    plan: o.PlanOption = False,
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
        "index": index,
        "C": switch,
        "eta": eta,
        "security": security,
        "stages": stages,
        "noise_bits": noise_bits,
        "mean_bound": mean_bound,
        "rms_length": rms_length,
        "insecure_degree": insecure_degree,
        "noise_sd": noise_sd,
        "threshold": threshold,
        "minimum_ratings": minimum_ratings,
        "choose": choose,
        "sha256": sha256,
    }
    if budget is None:
        budget = o.DEFAULT_BUDGETS.get(protocol, o.DEFAULT_BUDGET)
    study = study_of(protocol, Wish(policy, arms, budget, options))
    if plan:
        _forecast(study, as_json=as_json)
        return
    _carry_out(study, budget, seed, compare=compare, trajectory=trajectory, as_json=as_json)


def _forecast(study: Study, *, as_json: bool) -> None:
    """What the run would take."""
    if study.forecast is None:
        raise InputError("--plan belongs to `lotor run helba`: other runs take little to try")
    found = study.forecast()
    if as_json:
        typer.echo(json.dumps(found.figures()))
    else:
        found.show(Console())


def _carry_out(
    study: Study, budget: int, seed: int | None, *, compare: bool, trajectory: bool, as_json: bool
) -> None:
    """Run it, beside others if wanted, and show what came of it."""
    out, where = Console(), study.environment
    forecast = None if study.forecast is None else study.forecast()
    if forecast is not None and not as_json:
        forecast.show(out)
    expected = None if forecast is None else forecast.seconds
    kept = compare or trajectory
    secure = simulate(study.protocol, where, budget, seed, trajectory=kept, expected=expected)
    outcome = _beside(study, study.plain, secure) if compare and study.plain else None
    if as_json:
        found = (
            document(secure, trajectory=trajectory)
            if outcome is None
            else report(study, outcome, trajectory=trajectory)
        )
        if forecast is not None:
            found["plan"] = forecast.figures()
        typer.echo(json.dumps(found))
    elif outcome is None or study.show is None:
        show_result(out, secure)
    else:
        study.show(out, outcome)
    if outcome is not None and not study.holds(outcome):
        raise typer.Exit(exit_codes.DIFFERENT)


def _beside(study: Study, plain: Protocol, secure: Result) -> Outcome:
    """Plain, and whatever else is to be compared, on the same draws."""

    def same_draws(protocol: Protocol) -> Result:
        return simulate(protocol, study.environment, secure.budget, secure.seed)

    others = {name: same_draws(other) for name, other in study.others.items()}
    return Outcome(secure, same_draws(plain), others)
