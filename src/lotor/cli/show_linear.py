"""Tables for people, of the linear protocols."""

from collections.abc import Mapping

from rich.console import Console

from lotor.cli.tables import small_table
from lotor.runtime import Result

COLUMNS = {
    "expected": "as ours must be",
    "figure_4": "Figure 4, transcribed",
    "figure_5": "Figure 5, as printed",
}
EXPLAINED = (
    "Figure 4 is the paper's pseudo-code and Figure 5 its count. The pseudo-code also encrypts "
    "each arm's bonus in each round, (N - 1) K times, and decrypts one by one. Here P computes "
    "all that does not depend on theta in clear, so theta is encrypted once, a round is one inner "
    "product for each arm, and several scores share a ciphertext: Comp decrypts a few a round. "
    "What the paper counts as additions and multiplications by numbers is counted here in "
    "products of ciphertexts, of which a multiplication by a number takes many.\n"
)


def show_linear_operations(
    out: Console, result: Result, expected: Mapping[str, Mapping[str, int]]
) -> None:
    """Counted operations beside the paper's counts."""
    table = small_table("Cryptographic operations")
    table.add_column("operation")
    for heading in ("counted", *(COLUMNS[name] for name in expected)):
        table.add_column(heading, justify="right")
    names = dict.fromkeys(sorted(result.operations))
    names |= {name: None for counts in expected.values() for name in counts}
    for name in names:
        counts = (result.operations, *expected.values())
        cells = (f"{one[name]:,}" if name in one else "" for one in counts)
        table.add_row(name.replace("_", " "), *cells)
    out.print(table)
    out.print(EXPLAINED, highlight=False)
