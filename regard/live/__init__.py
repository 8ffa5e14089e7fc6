"""Live: a model inside one HTML file, run by the page's own script on the reader's sentences.

carried.py   a model as the page carries it: weights, vocabulary, where they are from
examples.py  the sentences or images that it offers
proof.py     what Python makes of them with those weights, for the page to find again
file.py      the models as one file
gallery.py   a file for each model in one folder, with an index
"""
