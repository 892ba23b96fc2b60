"""What the arms of a run tell about the contexts, in numbers."""

from lotor.privacy.accountant import Accountant, PrivacySpent

__all__ = ["Accountant", "PrivacySpent"]
