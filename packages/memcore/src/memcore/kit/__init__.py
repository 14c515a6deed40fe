"""What every adapter would otherwise write again: exact JSON, analysis, terms, checks before transport, ranking."""
