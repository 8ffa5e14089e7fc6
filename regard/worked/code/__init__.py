"""Own code: a function or module that somebody wrote, called with generated cases and judged.

judge.py       which cases it gets right, and what makes the others wrong     start here
load.py        what ``FILE:NAME`` names, found and imported
candidate.py   how it is called: PyTorch or NumPy, its arguments, its answer
weights.py     the matrices inside a module
cases.py       what it is called with
mistakes.py    what it would answer if it made one of the usual mistakes
limit.py       a time limit
report.py      all this for a reader
"""
