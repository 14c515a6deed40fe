"""`python -m memcore_conformance NAME`."""

from memcore_conformance.cli import app

if __name__ == "__main__":
    app(prog_name="memcore conformance")
