"""What a seed gives: the arm of each round and the exact total, written so that it can be kept."""

import json
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import chain
from math import isclose
from pathlib import Path
from typing import Any

import lotor
from golden import helba_cases, linear_cases, ppcb_cases, samba_cases
from golden.cases import Case

CASES: Mapping[str, Case] = {
    case.name: case
    for case in chain(
        samba_cases.cases(), linear_cases.cases(), ppcb_cases.cases(), helba_cases.cases()
    )
}
LAST_DIGITS = 1e-7
RECORDED = Path(__file__).with_name("seeds.json")


@contextmanager
def small_keys() -> Iterator[None]:
    """Keys that can be broken are fast, and meant here."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".* can be broken", category=UserWarning)
        yield


def runs(case: Case) -> dict[str, dict[str, Any]]:
    """What a case gives, and the same in plain where it is a secure protocol."""
    with small_keys():
        protocol, arms = case.protocol(), case.arms()
        found = {"run": protocol}
        if hasattr(protocol, "plain"):
            found["plain()"] = protocol.plain()
        return {
            way: outcome(
                json.loads(lotor.run(one, arms, budget=case.budget, seed=case.seed).to_json())
            )
            for way, one in found.items()
        }


def outcome(result: Mapping[str, Any]) -> dict[str, Any]:
    """Of a result as JSON; the account of privacy without its prose."""
    spent = result["privacy"] or {}
    numbers = {name: value for name, value in spent.items() if not isinstance(value, str)}
    found = {"arms": result["arms"], "reward": float(result["reward"]).hex()}
    return {**found, "privacy": numbers} if numbers else found


def differences(
    found: Mapping[str, Any], recorded: Mapping[str, Any], *, exact: bool = True
) -> list[str]:
    """What is not as recorded, in words.

    >>> recorded = {"arms": [0, 1, 1], "reward": "0x1.0p+0"}
    >>> differences({"arms": [0, 1, 2], "reward": "0x1.0p+1"}, recorded)[0]
    'round 3 has arm 2, recorded is arm 1'
    """
    told = []
    arms, before = found["arms"], recorded["arms"]
    rounds = [t for t, (arm, its) in enumerate(zip(arms, before, strict=False)) if arm != its]
    if rounds:
        t = rounds[0]
        told.append(f"round {t + 1} has arm {arms[t]}, recorded is arm {before[t]}")
    if len(arms) != len(before):
        told.append(f"there are {len(arms)} rounds, recorded are {len(before)}")
    reward, its = (float.fromhex(one["reward"]) for one in (found, recorded))
    if reward != its and (exact or not isclose(reward, its, rel_tol=LAST_DIGITS)):
        told.append(f"the reward is {reward!r}, recorded is {its!r}")
    # In plain nobody keeps an account.
    spent = recorded.get("privacy", {}) if "privacy" in found else {}
    told += [
        f"privacy {name} is {found['privacy'].get(name)!r}, recorded is {value!r}"
        for name, value in spent.items()
        if found["privacy"].get(name) != value
    ]
    return told
