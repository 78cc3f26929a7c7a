"""The web app that draws routing tables, steps through traces and shows why a message went where."""
