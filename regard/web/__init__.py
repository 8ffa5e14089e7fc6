"""The local explorer: the page from a server on this machine, for texts of any length."""
