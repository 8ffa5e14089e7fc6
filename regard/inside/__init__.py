"""Inside: look into real models without changing what they compute.

find.py, pinned.py, textmodel.py   a model by its name, its folder or its short name, ready to read
observe/                           eyes: what attention was given, in every layer
look.py, heads/, explain/          what is made of it: a look, kinds of heads, one head explained
"""
