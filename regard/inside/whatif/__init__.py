"""What if: a change that is wished for in a page, carried through the model.

wish.py       what is wished, as the page sends it, and how hands do it
outcome.py    what the model puts out, changed or not
"""
