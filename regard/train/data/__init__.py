"""Data: texts read, divided, cut into pieces and put into batches; all of it counted.

config.py     where the text comes from
lines.py      the lines of a file: plain, gzip or a pipe
sentences.py  sentences
pairs.py      sentence pairs; names.py: with names that were made up, so that names are copied
labelled.py   sentences with labels
histories.py  what users had, item after item, in the order of time
episodes.py   what was seen, done and got, step by step; npz.py: arrays of a file
split.py      which are trained on and which are kept to check with
examples.py   what was read, so divided
corpus.py     the same in tokens, and what was left out
batches.py    what an update sees
"""
