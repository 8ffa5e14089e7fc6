"""Worked examples: small matrices in a TOML file, computed, explained, checked for mistakes.

example.py      an example and its computation       start here
source.py       its file (fields.py: the values in it; formats.py: npz and markdown)
sentence.py     one made of a sentence and word vectors
claims.py       the numbers that somebody claims
check.py        which of them are wrong
consequence.py  wrong by itself, or because of earlier ones?
working.py      the arithmetic of one number, written out
remarks.py      mistakes of understanding, which no single number shows
report.py       all this for a reader
written.py      a file's text, from its content
code/           somebody's own function, tried and judged
"""
