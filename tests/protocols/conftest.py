"""What tests of SAMBA's forms share."""

from light_transfers import light_transfers

__all__ = ["light_transfers"]
