"""Look: what all heads of a model do with a text.

look.py         layer by layer, as the model runs
files.py        as JSON and CSV
beginning.py    some layers at the beginning of a text, by which the whole is foreseen
page.py         what a page keeps of it
exploration.py  what is asked of it later, piece by piece
"""
