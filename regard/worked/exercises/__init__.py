"""Exercises: worked examples made up for a learner, with numbers that a pencil can follow.

new.py      one of any mechanism: its file with comments, with blanks, with the solution
sheet.py    many of them, for a page that checks what is typed into it, and read back from it
"""
