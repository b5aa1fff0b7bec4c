import os

#: Signals, process groups, mounts and terminals are those of POSIX systems.
collect_ignore_glob = [] if os.name == "posix" else ["test_*.py"]
