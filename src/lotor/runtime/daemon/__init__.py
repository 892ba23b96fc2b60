"""Parties as processes of their own: daemons that find each other, run protocols and survive.

From the outside in: `serving` opens a kit and drives its `Node`. The node's `Connections` bring
frames, which it hands to the `LiveRun` that they are about; the `RunRegistry` has all of these, and
adds those that peers announce. A `CommandHandler` does what the operator asks for, such as
`start_run`. Each `LiveRun` drives a durable `Host` (lotor.runtime.durable), lets an `Answerer` ask
the party's own functions, and tells its `StatusExchange` how it stands.
"""
