"""Run: the loop, and what keeps it exact.

start.py        from a job and its settings to a model in its run folder
loop.py         the loop, top to bottom
state.py        where a run is: counts, what was best, random generators
optimizer.py    Adam or another, and its step size
grow.py         weights for a model that is wider than the one they are of
freeze.py       parts that keep the weights they begin with
checkpoint.py   everything needed to go on as if nothing had stopped
folder.py       one run a folder, one process at a time
findrate.py     which step sizes a model can be trained with
stop.py         when a run ends
distributed.py  several processes
log.py          figures as they happen
progress.py     what the user sees
report.py       the page of a finished run
drawing.py      its curves and alignments, as SVG
"""
