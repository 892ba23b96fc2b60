"""The figures of the paper's Sections 3, 5 and 6, one file each."""

FIGURES = {
    "linucb-5": f"{__name__}.operations:LinUCBOperations",
    "linucb-6a": f"{__name__}.cores:LinUCBManyArms",
    "linucb-6b": f"{__name__}.cores:LinUCBManyDimensions",
    "linucb-6c": f"{__name__}.growth:LinUCBGrowth",
    "linucb-7": f"{__name__}.both_algorithms:LinUCBBothAlgorithms",
}
"""By the name on the command line; each is loaded when it is used."""
