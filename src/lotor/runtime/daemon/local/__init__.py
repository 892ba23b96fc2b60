"""A party's local interface: what its operator sees and decides, in process or over loopback HTTP.

`LocalInterface` has the operations, and the command line calls it in its own process. `LocalServer`
offers the same to programs on this machine, who show a token. docs/local.md describes it.
"""
