"""The pages: each a layout, and callbacks that hand over to pure functions."""
