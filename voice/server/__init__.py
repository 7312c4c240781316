"""The local conversation server, driven by flow files."""
