"""HELBA whose server learns nothing and whose user learns the arm, and nothing else.

docs/security/private-contexts.md has the steps and the argument.
"""
