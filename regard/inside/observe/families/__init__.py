"""One file for each way in which models compute attention, and how to watch it.

Each has ``find(model)``, which says whether the model has any, and ``watch(model)``, a context
manager inside which every call of attention reaches the watchers (``observe/watch.py``).
"""
