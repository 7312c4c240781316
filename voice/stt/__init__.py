"""Ears: voice activity, endpointing and recognisers."""
