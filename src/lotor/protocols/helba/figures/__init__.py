"""The figures and the table of the paper's Section 6 and Appendix F, one file each."""

FIGURES = {
    "helba-1": f"{__name__}.regret:HelbaRegret",
    "helba-2": f"{__name__}.security_levels:HelbaSecurityLevels",
    "helba-table1": f"{__name__}.running_time:HelbaRunningTime",
}
"""By the name on the command line; each is loaded when it is used."""
