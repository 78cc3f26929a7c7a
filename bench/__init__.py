"""The benchmarks: each measures the library and a baseline side by side, in the same run."""
