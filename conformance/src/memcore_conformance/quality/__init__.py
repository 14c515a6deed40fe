"""What an adapter finds: recall of labelled evidence, for any URL and any data in the format of `sample.json`.

`python -m memcore_conformance.quality URL… --data PATH…`, or `nox -s quality -- URL…` in this workspace.
"""
