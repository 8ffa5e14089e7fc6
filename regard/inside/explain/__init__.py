"""Explain: one head of a real model with every number, and the proof that they are real.

explained.py  one head, or one recurrent step, for one word, whoever computed it
computed.py   of a BERT model, which regard computes itself
observed.py   of any other, from what its attention was given; headtrace.py makes the steps of it
recurrent.py  a step of a network that reads (reader.py) or writes (writer.py) word by word;
              steptrace.py picks its values, stepending.py goes on to what is predicted,
              design.py says which designs have such steps
link.py       which head, if nobody said
captions.py   what must be said of it in words
whole.py      a word's way through all layers, to what is predicted
"""
