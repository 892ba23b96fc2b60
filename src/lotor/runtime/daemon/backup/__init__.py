"""A party's kit and journal in one encrypted file, and back.

`archive` is the file, `making` writes one while the party may be served, `restoring` puts it back.
"""
