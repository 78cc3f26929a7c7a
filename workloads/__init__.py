"""The jobs that generate workloads, build tables from them, and validate tables at scale."""
