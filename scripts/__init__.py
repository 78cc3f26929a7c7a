"""What `make` calls to set up a checkout; needs nothing but Python itself."""
