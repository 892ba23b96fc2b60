"""SAMBA whose servers learn nothing: Controller garbles an argmax, and Comp evaluates it blindly.

docs/security/shared-argmax.md has the steps and the argument.
"""
