"""The course: chapters in Markdown whose samples run and whose exercises are checked.

course/      the chapters themselves, a folder a language     start here
course.py    which chapters there are, and in which language
chapter.py   a chapter taken apart: pages of prose, samples, drawings, questions
question.py  a question to the reader, with its hints and its solution
judge.py     whether an answer is right; worked examples are judged by regard.worked
runner.py    runs the samples of a chapter in their order
output.py    whether a sample printed what the chapter shows
seal.py      right answers that a page can check without showing them
edition.py   all chapters as plain data;  notebook.py: a chapter as a notebook
figures.py   pictures for slides, as plain data
bookmarks.py where the reader was, kept from one day to the next
"""
