"""Intervene: change the attention of a model while it runs as always.

intervene.py    the door: which families, and that nothing is left behind
hands.py        what the user asks for, and which of it a layer is due
change.py       one change; where it is in one call of attention
plan.py         the changes of one call, done
families/       one file for each way in which models compute attention
"""
