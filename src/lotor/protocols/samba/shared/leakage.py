"""Who may see what in the shared form, and who holds which key."""

from lotor.protocols.leakage import Finding

OWNER, CUSTOMER, COMP, CONTROLLER, NETWORK = "owner", "customer", "comp", "controller", "network"

MEASURED: dict[str, Finding] = {}
