"""Voices: the text of a clause in, PCM blocks and word marks out."""
