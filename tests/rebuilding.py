"""Parties of a simulated run, each with a way to build it again from a snapshot."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

from lotor.crypto.signing import Identity, trusting_identities
from lotor.protocols.form import MODEL, Assignment
from lotor.protocols.party import Party, Run
from lotor.protocols.protocol import SecureProtocol
from restarting import Restarting

Rebuild = Callable[[bytes], Party]


@dataclass(frozen=True)
class Rebuildable:
    """A party, how it is built again, whom it talks to, and with which identity."""

    party: Party
    rebuild: Rebuild
    peers: tuple[str, ...]
    identity: Identity


def rebuildable(protocol: SecureProtocol, run: Run) -> Mapping[str, Rebuildable]:
    """The parties that `protocol.parties(run)` would have, built as a daemon would build them."""
    form = protocol.in_form()
    members = form.simulated(protocol, run)
    seats = form.seats(members)
    identities = trusting_identities(list(seats))
    earlier, opening = run.earlier, (protocol, run.id, members, run.budget, identities[form.opener])
    if earlier is None:
        order, opener = form.open(*opening)
    else:
        order, opener = form.reopen(*opening, earlier.at(form.opener))
    links = form.links({seat: form.role(seat).name for seat in seats})
    made = {}
    for seat, member in seats.items():
        assignment = Assignment(
            run=run.id,
            seat=seat,
            order=order,
            identity=identities[seat],
            contribution=member.contribution,
            seed=run.seed,
            brings=frozenset(form.role(seat).brings),
            data=run.environment if MODEL in form.role(seat).brings else None,
            environment=run.environment,
            simulated=protocol,
            earlier=None if earlier is None else earlier.at(seat),
        )
        party = opener if seat == form.opener else form.party(assignment)
        rebuild = partial(form.build, assignment)
        made[seat] = Rebuildable(party, rebuild, links[seat], identities[seat])
    return made


class RestartingRun:
    """Stands for a protocol whose parties crash at every n-th effect."""

    def __init__(self, protocol: SecureProtocol, every: int) -> None:
        self._protocol = protocol
        self._every = every
        self.least_budget = protocol.least_budget
        self.delays = protocol.delays

    def parties(self, run: Run) -> Mapping[str, Party]:
        made = rebuildable(self._protocol, run)
        return {name: Restarting(one.party, one.rebuild, self._every) for name, one in made.items()}
