"""The sentence that the tests of explaining read."""

SENTENCE = "The animal didn't cross the street because it was too tired"
