"""An owner's side of a federation: party.toml names `hospital:pull`, and this is it.

Each patient's outcome is handed to one decision for ever. So the same question always gets the same
answer, and party.toml may say `repeatable = true`. A pull function of your own is as short:

    def pull(decision: lotor.Decision) -> float: ...
"""

from pathlib import Path

from lotor.environments import Outcomes

pull = Outcomes(Path(__file__).with_name("patients.db"))
