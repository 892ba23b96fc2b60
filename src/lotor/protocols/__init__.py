"""Policies made secure: each protocol has its messages, one file a role, and what leaks."""
