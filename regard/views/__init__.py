"""Views: plain data in; something to look at out.

terminal/  text, for commands
picture/   PNG, SVG and PDF, for papers
page/      one HTML file that computes what it draws, for the browser and notebooks
"""
