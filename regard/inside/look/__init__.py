"""Look: what all heads of a model do with a text.

look.py         layer by layer, as the model runs
files.py        as JSON and CSV
page.py         what a page keeps of it
exploration.py  what is asked of it later, piece by piece
"""
