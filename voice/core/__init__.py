"""The pure heart: no I/O, no threads, no wall clock. Nothing here imports a shell."""
