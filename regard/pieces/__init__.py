"""Pieces: what a model reads, cut into labelled pieces, each with its place in it.

pieces.py     the type: labels, places, words; of a text or of anything that has an order
backdrop.py   the thing itself, where pieces are drawn on it
image.py      an image as pieces: the patches that a model reads
text.py       a text as pieces, by the tokenizer of a model
tokenizer.py  learned subwords: the tokenizer of the models that regard trains
tokenise.py   words and marks of a sentence, without any model
grouping.py   pieces of words made words again
marks.py      labels alone, as other tokenizers mark them
unknown.py    what of a text a model could not read
sheet.py      the vectors of a layer over pieces: what a page is made from
look.py       what was asked about pieces and found in all heads
heads.py      the kinds of heads, and heads in their order
measures.py   what is derived from weights, and what must be said beside it
whole.py      the way of one word through a whole model
"""
