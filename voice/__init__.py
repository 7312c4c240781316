"""A voice front end for conversation servers that send text."""

__version__ = "0.1.0"
