"""CrypTen 0.4.1 doing the same step, in an environment of its own that is made on first use."""

import subprocess
import sys
import venv
from pathlib import Path

import msgspec
from rich.console import Console
from rich.table import Table
from tables import table, verdict

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / ".venv-crypten"
SCRIPT = Path(__file__).parent / "beside_crypten" / "bandit.py"
CPU_ONLY = "https://download.pytorch.org/whl/cpu"
# CrypTen asks for much that its arithmetic does not use; these are what it imports.
INSTALLS = (
    ("torch==2.13.0", "--index-url", CPU_ONLY),
    ("numpy", "omegaconf", "pyyaml"),
    ("crypten==0.4.1", "--no-deps"),
)
PATIENCE = 1_200.0
PROCESS_AIM, PROCESSES_AIM = 30.0, 12.0
"""Over Lotor's shared form, in one process and as processes."""


class Costs(msgspec.Struct, frozen=True):
    """CPU seconds of a step at each process, its seconds, and how far the weights end off."""

    cpu: list[float]
    seconds: float
    error: float

    @property
    def milliseconds(self) -> float:
        return sum(self.cpu) * 1e3


class AbsentError(Exception):
    """CrypTen cannot be had here."""


def _python() -> Path:
    """The Python of CrypTen's environment, installed if need be."""
    python, ready = FOLDER / "bin" / "python", FOLDER / ".ready"
    if ready.exists():
        return python
    console = Console(stderr=True)
    console.print(f"installing CrypTen and torch into {FOLDER.name}, once: some minutes, 1 GB")
    try:
        venv.create(FOLDER, with_pip=True, clear=True)
        for packages in INSTALLS:
            _run(python, "-m", "pip", "install", "--quiet", "--only-binary", ":all:", *packages)
    except (OSError, subprocess.SubprocessError) as error:
        said = getattr(error, "stderr", "") or str(error)
        raise AbsentError(said.strip().splitlines()[-1]) from None
    ready.touch()
    return python


def _run(python: Path, *arguments: str) -> str:
    done = subprocess.run(  # noqa: S603  our own programs
        [str(python), *arguments], check=True, capture_output=True, text=True, timeout=PATIENCE
    )
    return done.stdout


def _costs(python: Path, steps: int, *options: str) -> Costs:
    try:
        printed = _run(python, str(SCRIPT), "--steps", str(steps), *options)
    except subprocess.SubprocessError as error:
        said = getattr(error, "stderr", "") or str(error)
        raise AbsentError(said.strip().splitlines()[-1]) from None
    return msgspec.json.decode(printed.strip().splitlines()[-1], type=Costs)


def beside_crypten(
    computing: float, processes: float | None, steps: int, providers: tuple[str, ...]
) -> Table | str:
    """CrypTen's step in CPU of all its processes, over Lotor's servers and dealer.

    `computing` is that of Lotor's servers in one process, in the shared form.
    CrypTen's parties talk over sockets, so that
    Lotor's `processes` are nearer to it, though they also encrypt, sign in and write down all they
    do. In CrypTen's nobody brings features or carries arms out, so that these are not counted.
    """
    made = table(
        "7. A step on CrypTen 0.4.1, two parties as processes, D = 20, A = 10, 20 bits: CPU of all "
        "processes, over that of Lotor's servers without a dealer, in one process (8) and as "
        "processes (6)",
        *("what", "who deals", "CPU ms", "wall ms", "off by"),
        *("over one process", "the ratio", "over processes", "the ratio"),
    )
    dealers = {"TFP": "the first party", "TTP": "a third process"}
    try:
        python = _python()
        for name, option in (("Algorithm 1", ()), ("Lotor's step", ("--rewritten",))):
            for provider in providers:
                costs = _costs(python, steps, *option, "--provider", provider)
                ratios = [
                    (f"{costs.milliseconds / ms:.1f}", verdict(costs.milliseconds / ms, aim))
                    for ms, aim in ((computing, PROCESS_AIM), (processes, PROCESSES_AIM))
                    if ms is not None
                ]
                made.add_row(
                    *(name, dealers[provider], f"{costs.milliseconds:.0f}"),
                    *(f"{costs.seconds * 1e3:.0f}", f"{costs.error:.0e}"),
                    *(text for ratio in ratios for text in ratio),
                )
    except AbsentError as error:
        return f"7. CrypTen is left out, since it cannot be installed or run here: {error}"
    return made


if __name__ == "__main__":
    sys.exit("run benchmarks/ppcb.py: the ratios need its tables 1 and 6")
