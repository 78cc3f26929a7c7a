"""Tests of the filter language against an oracle that enumerates."""
