"""How fast an adapter is: one workload for any URL, with raw limits and installed peers measured in the same run.

`python -m memcore_conformance.bench URL…`, or `nox -s bench -- URL…` in this workspace.
"""
