"""Two servers that compute on shares with nobody's help: what any protocol of this kind needs.

A protocol says which circuits of shares and which garbled circuits a step has (`schedule.py`), and
which of its values go into them. Both servers make what these need ahead of time, for a batch of
steps at once, and take turns in who garbles and who evaluates (`preparation.py`). Within a step
they open values under masks, and labels (`server.py`).
"""
