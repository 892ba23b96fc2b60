"""Work spread over cores, in threads or in processes.

A function that lets go of the interpreter's lock for long, such as a list of powers, is shared by
threads: `Workers.map`. Work that holds the lock (many short products, SEAL) goes to processes:
a `Job` is made once in each of them and answers bytes with bytes.

A process is a fresh interpreter that reads its job's setup and its requests from a pipe. Nothing
is pickled, its command line names only the job's class, and the caller's program is not run again.
"""

from lotor.crypto.workers.pool import Workers
from lotor.crypto.workers.processes import Job, WorkerProcesses

__all__ = ["Job", "WorkerProcesses", "Workers"]
