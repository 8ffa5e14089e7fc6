"""Tasks: what can be trained, one file each, and how it is measured.

task.py        what is trained, as the loop sees it
job.py         a kind of training, from its data to its figures; textjob.py: on text
translate.py   translators
lm.py          language models
classify.py    classifiers
recommend.py   recommenders
act.py         actors; play.py: in an environment; actscores.py: their figures
evaluate.py    how good a trained model is on text that it has not seen
metrics.py     BLEU and chrF
perplexity.py  how well a language model predicts a text
ranking.py     where a recommender puts the right item among all; its baselines
"""
