"""The figures and the table of the paper's Section 5 and Appendix D."""

FIGURES = {
    "ppcb-1": f"{__name__}.reward:PPCBReward",
    "ppcb-2": f"{__name__}.privacy:PPCBPrivacy",
    "ppcb-3": f"{__name__}.running_time:PPCBTimeOverArms",
    "ppcb-4": f"{__name__}.running_time:PPCBTimeOverParties",
    "ppcb-5": f"{__name__}.privacy:PPCBPrivacyByArms",
    "ppcb-6": f"{__name__}.membership:PPCBMembership",
    "ppcb-7": f"{__name__}.precision:PPCBPrecision",
    "ppcb-8": f"{__name__}.precision:PPCBNewton",
    "ppcb-table1": f"{__name__}.operations:PPCBOperations",
}
"""By the name on the command line; each is loaded when it is used."""
