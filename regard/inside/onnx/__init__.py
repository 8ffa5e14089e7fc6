"""ONNX: attention in the graph of an ONNX file, found, run and observed.

file.py     the file, read without running anything of it and without others beside it
graph.py    where attention is in its graph: a softmax whose rows mix values
network.py  the graph as a module that observe() takes: onnxruntime computes it
"""
