"""Exchange: models in the forms of other libraries, out and in.

export.py       a run folder to a folder of another library's; what cannot go is refused
layout.py       what Hugging Face calls a Transformer's weights, and how it lays out its stream
huggingface.py  Marian and Pegasus of Hugging Face's transformers
marian.py       in: a folder of a published Marian translator
ctranslate2.py  the fast engine of OpenNMT
onnx.py         graphs of standard operations, for onnxruntime and others
graph.py        one such graph, and a Transformer's layers in it
recurrence.py   the recurrent designs in it, step by step
"""
