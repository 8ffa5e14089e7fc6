"""Vectors: of words (trained, loaded, averaged) and of positions.

words.py      a vocabulary and one matrix; near words; a sentence as an average
word2vec.py   trained, by Gensim
corpus.py     the text to train on, read again for every epoch
file.py       read from the files that others publish (rows.py: row by row)
save.py       written as such files
positions.py  what tells self-attention where a word stands
"""
