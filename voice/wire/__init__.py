"""Frames to domain events and back, and the socket loop around them."""
