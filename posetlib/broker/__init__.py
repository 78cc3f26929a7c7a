"""A broker that runs: one router over TCP, with lines of JSON; and clients for it.

Nothing is imported here: the clients work without the extra packages that the broker needs.
"""
