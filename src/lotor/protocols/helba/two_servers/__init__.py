"""HELBA with two servers: users share no key, and a user with one server learns nothing of others.

docs/security/two-servers.md has the steps and the argument.
"""
