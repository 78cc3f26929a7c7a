"""The web app that draws routing tables and steps through what happens to them."""
