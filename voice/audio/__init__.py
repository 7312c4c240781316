"""Devices, the player, echo, voice activity and the room."""
