"""What the `lotor` command returns; docs/errors.md explains each."""

from lotor.core.errors import InputError, LotorError, RunEndedError

DONE, DIFFERENT, INPUT, FAILED, ENDED, INTERRUPTED = 0, 1, 2, 3, 4, 130
EPILOG = (
    "Exit codes: 0 done, 1 secure and plain differ or a check found something, 2 unusable input, "
    "3 a run or a command failed, 4 a run ended without a result, 130 interrupted."
)


def of(error: LotorError) -> int:
    """The exit code for an error."""
    if isinstance(error, InputError):
        return INPUT
    return ENDED if isinstance(error, RunEndedError) else FAILED
