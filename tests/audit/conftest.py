"""What tests of the audit share."""

from light_transfers import light_transfers

__all__ = ["light_transfers"]
