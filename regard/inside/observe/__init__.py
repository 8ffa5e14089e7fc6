"""Observe: see the attention of a model while it runs as always.

observe.py      the door: which families, which layers, what is kept
families/       one file for each way in which models compute attention
verify.py       whether what was seen is what the model did
switch.py       settings of the process that are changed meanwhile; compiled models
places.py       the layers of a model, numbered as they are called
watch.py        hands what a family sees to the observation
call.py         what one call of attention was given; the steps of ``generate`` joined
freed.py        memory that layers let go of, given back to the system
layer.py        the calls of one layer, and the maps made from them
observation.py  all layers, by number and head
verify.py       is what was observed what the model did? If not, it is refused
sheets.py       a layer as plain data, for a page
switch.py       settings of the process that are changed while anybody observes
"""
