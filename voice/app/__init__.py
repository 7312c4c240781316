"""The conversation on its event loop: the session wired to its shells."""
