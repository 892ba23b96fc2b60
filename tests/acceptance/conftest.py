"""The package is not for this Python, but for those in which a test installs it."""

collect_ignore = ["package"]
