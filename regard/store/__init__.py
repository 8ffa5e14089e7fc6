"""Store: what training leaves and whoever runs a model reads.

folder.py   run folders
weights.py  tensors by name in safetensors, whole or packed into 8 bits
shipped.py  the models that come with the package
"""
