"""Views on the terminal: plain data in, text out."""
