"""Two servers that compute on shares, with a dealer: what any protocol of this kind needs.

A protocol says which circuits each step has (`schedule.py`), who brings inputs and who is told
results (`outside.py`). Its two server roles run the circuits with `server.py`; its dealer is
`dealer.py`'s.
"""
