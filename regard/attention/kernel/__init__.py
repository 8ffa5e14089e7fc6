"""The native kernel: attention and all its statistics in one pass, in C++; the additive attention
of recurrent networks, forward and back; and the networks that translate, with their search.

kernel.h       the interface: one call, plain fields       build.py    compiled at installation
layout.h       its fields as numbers, to be compared with  layout.py   the same fields in Python
attention.cpp  a task, its blocks of queries, chunks       library.py  found, checked, loaded
keys.h         a task's keys in panels, its values         run.py      tensors in, tensors out
block.h        the rows of a block, and what they see      scores.h    stored scores become weights
results.h      a block's outputs and statistics            tile.h      the two matrix products
gradient.h     the interface of its gradient               gradient.py  with gradients asked for
gradient.cpp   back through a task                         arena.h     memory of a thread
reach.h        which keys a query may see                  ahead.h     rows fetched in advance
top.h, pool.h  statistics of rows                          vector.h    one vector, any width
dispatch.cpp   which variant, which thread                 read.h      any strides, any dtype
additive.h     the interface of additive attention         additive.py  its tensors
additive.cpp   a step over a tape, and back                look.h      of one sequence
scan.h         the interface of all steps of a network     scan.py     its tensors and matrices
scan.cpp       recurrent self-attention, and back
weights.h      those of a product, of 32 or 8 bits         weights.py  laid out
product.h      a few rows times such weights               columns.h   rows of any width
rows.h         one call of a network that translates       weigh.h     softmax of a row
stack.h        the interface of a stack of layers          stack.py    its weights
stack.cpp      rows of words through all layers
recurrent.h    the interface of recurrent translators      recurrent.py  their weights
recurrent.cpp  a source read, a step written
choice.h       the interface of a choice                   choice.py   its tensors
choice.cpp     the best continuations of hypotheses
search.h       the interface of a beam search              search.py   its tensors
search.cpp     steps of hypotheses, from source to end

Nothing needs it: where it is missing, or cannot do what is asked, PyTorch's path serves.
"""
