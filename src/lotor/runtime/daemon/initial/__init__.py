"""A first party.toml for every role: what the form of a protocol says that it needs, explained.

`meanings` are the comments, `place` is what a role needs, `writing` makes the file.
"""
