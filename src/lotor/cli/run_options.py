"""The options of `lotor run` and some of `lotor start`, in panels of their help."""

from typing import Annotated, Final, Literal

import typer

LINEAR_PANEL = "linucb-ds and spectral-ucb-ds"
PPCB_PANEL = "ppcb"
HELBA_PANEL = "helba"
FILES_PANEL = "Files"

SAMBA: Final = ("owners", "selection")
CLOUDS: Final = ("slot_bits", "workers")
FACTORS: Final = ("user", "dimensions")
CONTEXTUAL: Final = ("epsilon", "bits", "parties", "delay", "privacy_budget", "delta")
RATINGS: Final = ("threshold", "minimum_ratings", "choose")
INDEX: Final = ("index", "C", "eta")
HELBA: Final = (
    *INDEX,
    "security",
    "stages",
    "noise_bits",
    "mean_bound",
    "rms_length",
    "insecure_degree",
)

DEFAULT_BUDGETS: Final = {"helba": 130}
DEFAULT_BUDGET: Final = 1000

ProtocolArgument = Annotated[
    Literal["samba", "linucb-ds", "spectral-ucb-ds", "ppcb", "helba", "plain"],
    typer.Argument(
        help="'samba' (each arm's data stays with its owner), 'linucb-ds' or 'spectral-ucb-ds' (a "
        "linear bandit at two clouds), 'ppcb' (several parties hold features of a context), "
        "'helba' (the server sees only ciphertexts of contexts and rewards), or 'plain'."
    ),
]
PolicyOption = Annotated[
    str | None,
    typer.Option(
        help="As `lotor policies` lists them, e.g. 'softmax:tau=0.02'.",
        show_default="ucb, linucb, spectral-ucb, linear-epsilon-greedy or batched-oful",
    ),
]
ArmsOption = Annotated[
    str | None,
    typer.Option(
        help="Where rewards come from: 'movielens-like', 'jester-like', 'movielens:PATH' (u.data), "
        "'jester:PATH' (csv), or means such as '0.9,0.5,0.1'. Linear: 'linear:K,D' or 'graph:K' "
        "(made up), 'movielens-factors-like' or 'movielens:PATH'. With contexts: 'digits', "
        "'kmeans:K' (K clusters of the digits), 'mnist:FOLDER' or 'contexts:K,D' (made up). With "
        "contexts of each arm: 'toy' or 'toy:SEED' (the paper's), 'contexts:K,D' (made up), "
        "'npz:PATH' or 'csv:PATH'.",
        show_default="movielens-like, linear:10,5, graph:10, digits or toy",
    ),
]
KOption = Annotated[
    int | None, typer.Option(help="How many arms, unless --arms says it.", show_default="10")
]
BudgetOption = Annotated[int, typer.Option(help="How many pulls, the papers' N and T.")]
RunBudgetOption = Annotated[
    int | None,
    typer.Option(
        help="How many pulls, the papers' N and T.",
        show_default=f"{DEFAULT_BUDGET}; helba {DEFAULT_BUDGETS['helba']}",
    ),
]
SeedOption = Annotated[
    int | None, typer.Option(help="Fixes arms and rewards; drawn and shown if absent.")
]
KeyBitsOption = Annotated[
    int | None,
    typer.Option(help="Of Paillier (not ppcb): 2048, 3072 or 4096.", show_default="3072"),
]
CompareOption = Annotated[
    bool, typer.Option("--compare", help="Also run plain, and show what leaks.")
]
PlanOption = Annotated[
    bool,
    typer.Option(
        "--plan",
        help="Only say what the run would take, at prices measured here.",
        rich_help_panel=HELBA_PANEL,
    ),
]
TrajectoryOption = Annotated[
    bool, typer.Option("--trajectory", help="With --json: include the arm of each round.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON on stdout.")]

OwnersOption = Annotated[
    int | None,
    typer.Option(help="Spread the arms over so many.", show_default="1", rich_help_panel="samba"),
]
SelectionOption = Annotated[
    Literal["bits", "position"] | None,
    typer.Option(
        help="How owners learn who is pulled.", show_default="bits", rich_help_panel="samba"
    ),
]

SlotBitsOption = Annotated[
    int | None,
    typer.Option(
        help="How wide a score is, 64 or 96.", show_default="64", rich_help_panel=LINEAR_PANEL
    ),
]
WorkersOption = Annotated[
    int | None,
    typer.Option(
        help="Processes of each cloud, or of helba's server.",
        show_default="1",
        rich_help_panel=LINEAR_PANEL,
    ),
]
UserOption = Annotated[
    int | None,
    typer.Option(help="MovieLens: whose taste.", show_default="1", rich_help_panel=LINEAR_PANEL),
]
DimensionsOption = Annotated[
    int | None,
    typer.Option(help="MovieLens: of an arm, d.", show_default="5", rich_help_panel=LINEAR_PANEL),
]

EpsilonOption = Annotated[
    float | None,
    typer.Option(
        help="How often an arm is drawn at random.", show_default="0.1", rich_help_panel=PPCB_PANEL
    ),
]
BitsOption = Annotated[
    int | None,
    typer.Option(
        help="Behind the point of shared numbers, 16 to 24.",
        show_default="20",
        rich_help_panel=PPCB_PANEL,
    ),
]
PartiesOption = Annotated[
    int | None,
    typer.Option(
        help="Among how many the features are split.", show_default="2", rich_help_panel=PPCB_PANEL
    ),
]
DelayOption = Annotated[
    int | None,
    typer.Option(
        help="How many steps later a reward is learnt from.",
        show_default="0",
        rich_help_panel=PPCB_PANEL,
    ),
]
PrivacyBudgetOption = Annotated[
    float | None,
    typer.Option(
        help="Stop before the arms of the whole run tell more.",
        show_default="no limit",
        rich_help_panel=PPCB_PANEL,
    ),
]
DeltaOption = Annotated[
    float | None,
    typer.Option(
        help="How likely the privacy account may fail.",
        show_default="1e-6",
        rich_help_panel=PPCB_PANEL,
    ),
]

IndexOption = Annotated[
    Literal["optimistic-quadratic", "sqrt"] | None,
    typer.Option(
        help="How an arm's index is computed; 'sqrt' is the paper's.",
        show_default="optimistic-quadratic",
        rich_help_panel=HELBA_PANEL,
    ),
]
SwitchOption = Annotated[
    float | None,
    typer.Option(
        "--C",
        help="A new estimate once contexts since the last one add up to this.",
        show_default="no condition",
        rich_help_panel=HELBA_PANEL,
    ),
]
EtaOption = Annotated[
    float | None,
    typer.Option(
        help="A new estimate once there are this part more rounds.",
        show_default="0, each round",
        rich_help_panel=HELBA_PANEL,
    ),
]
SecurityOption = Annotated[
    int | None,
    typer.Option(help="128, 192 or 256 bits.", show_default="128", rich_help_panel=HELBA_PANEL),
]
StagesOption = Annotated[
    int | None,
    typer.Option(
        help="Polynomials in a comparison, 2 to 6: with more, users read fewer gaps.",
        show_default="4",
        rich_help_panel=HELBA_PANEL,
    ),
]
NoiseBitsOption = Annotated[
    int | None,
    typer.Option(
        help="Noise of 2^-bits is added to each answer.",
        show_default="5",
        rich_help_panel=HELBA_PANEL,
    ),
]
MeanBoundOption = Annotated[
    float | None,
    typer.Option(
        help="No expected reward is further from 0.",
        show_default="1",
        rich_help_panel=HELBA_PANEL,
    ),
]
RmsLengthOption = Annotated[
    float | None,
    typer.Option(
        help="The root mean square length of pulled contexts.",
        show_default="the policy's L",
        rich_help_panel=HELBA_PANEL,
    ),
]
InsecureDegreeOption = Annotated[
    int | None,
    typer.Option(
        help="A ring that can be broken, 1024 to 32768: for tests and teaching.",
        show_default="a secure one",
        rich_help_panel=HELBA_PANEL,
    ),
]
NoiseSdOption = Annotated[
    float | None,
    typer.Option(
        help="Of rewards from npz:PATH or csv:PATH.",
        show_default="0.5",
        rich_help_panel=HELBA_PANEL,
    ),
]

ThresholdOption = Annotated[
    float | None,
    typer.Option(help="The lowest rating that counts as 1.", rich_help_panel=FILES_PANEL),
]
MinimumRatingsOption = Annotated[
    int | None,
    typer.Option(
        help="Leave out items with fewer.", show_default="20", rich_help_panel=FILES_PANEL
    ),
]
ChooseOption = Annotated[
    Literal["top", "first"] | None,
    typer.Option(
        help="Best k items, or lowest k ids.", show_default="top", rich_help_panel=FILES_PANEL
    ),
]
Sha256Option = Annotated[
    str | None,
    typer.Option(
        help="The digest that the file must have; of MNIST IMAGES,LABELS, unpacked.",
        rich_help_panel=FILES_PANEL,
    ),
]
