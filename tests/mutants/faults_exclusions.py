"""Faults in how a run goes on without an owner that is lost for good."""

from mutants.fault import Fault

FAULTS = [
    Fault(
        "the pads of a new era are those of the old one",
        "exclusions",
        "return derive_key(shared, self.name) if self.number else shared",
        "return shared",
        ("shared/test_lost_owners.py",),
        "at_all or shows_nothing",
    ),
    Fault(
        "an owner does not go back to the beginning of a void round",
        "exclusions",
        "before = deepcopy(before) if self._policy.observes else before",
        "before = before",
        ("shared/test_lost_owners.py",),
    ),
    Fault(
        "ties of the arms that are left are drawn as if they were the first ones",
        "exclusions",
        "self._ties = TieOrder(tie_key, era.numbers)\n\n    def score_labels",
        "self._ties = TieOrder(tie_key, range(era.k))\n\n    def score_labels",
        ("shared/test_lost_owners.py",),
    ),
    Fault(
        "what Comp escrows for a lost owner is not counted",
        "exclusions",
        'shares += [TaggedShare.from_bytes(share, "comp") for share in memory.escrowed]',
        "pass",
        ("shared/test_lost_owners.py",),
    ),
    Fault(
        "nobody looks whether all others have agreed",
        "exclusions",
        "        check_exclusion(identity, self.terms.run, left.exclusion, self.parties)\n",
        "",
        ("shared/test_lost_owners.py",),
        "excludes_nobody",
    ),
    Fault(
        "what a lost owner said is not on the disk before labels leave",
        "exclusions",
        "self._record.keep_taken(self._losses.unwritten)",
        "pass",
        ("test_lost_owners_resume.py",),
        "every_step",
    ),
    Fault(
        "who has left is told before it is on the disk who has not",
        "exclusions",
        "        yield Once(after.name.encode())\n",
        "",
        ("test_lost_owners_resume.py",),
        "stays_so",
    ),
    Fault(
        "Comp draws its share for whatever escrow Controller names",
        "exclusions",
        "last = range(left.t - 1, left.t + 1)",
        "last = era.terms.rounds",
        ("shared/test_lost_owners.py",),
        "no_other_sum",
    ),
    Fault(
        "an agreement is about any absence",
        "exclusions",
        "if (one.party, one.since) == (party, moment)",
        "if one.party == party",
        ("daemon/test_lost_owners.py",),
        "old_agreements",
    ),
    Fault(
        "the end of an excluded owner's run ends it for all",
        "exclusions",
        "if said.seat not in self.losses.gone:",
        "if True:",
        ("daemon/test_lost_owners.py",),
        "says_so",
    ),
]
