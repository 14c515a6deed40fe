"""Agent memory in a folder of JSON files."""
