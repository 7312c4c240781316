"""The benchmarks behind every published figure."""
