"""Inside: look into real models without changing what they compute.

find.py, pinned.py, textmodel.py   a model by its name, its folder or its short name, ready to read
observe/                           eyes: what attention was given, in every layer
look/, heads/, explain/            what is made of it: a look, kinds of heads, one head explained
readings.py                        sentences as a model that regard trained reads them
"""
