"""The local explorer: the page from a server on this machine, for texts of any length.

app.py      the routes
tasks.py    texts that models were asked to read, one at a time
parts.py    what the page asks of them, packed
guard.py    who may ask, and how much
openapi.py  the endpoints, described for programs
"""
