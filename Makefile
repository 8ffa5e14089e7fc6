# Set-up happens by itself: .venv is made once and reused until pyproject.toml or constraints.txt change.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready
OLDEST := .venv-oldest

.PHONY: demo gallery test check lint types script oldest bench wheels neon install-check clean

TIRED := The animal didn't cross the street because it was too tired
WIDE  := The animal didn't cross the street because it was too wide

demo: $(READY)
	@echo "== What does 'it' mean? A head of a real model, step by step"
	@$(BIN)/regard explain "$(TIRED)" --word it
	@echo
	@echo "== The same model, another head, one word changed"
	@$(BIN)/regard explain "$(TIRED)" --word it --layer 3 --head 1 --compare "$(WIDE)"
	@echo
	@echo "== Which head does that?"
	@$(BIN)/regard heads minilm "$(TIRED)" --link it animal --top 3
	@echo
	@echo "== Where attention began: a translator that looks back at the source"
	@$(BIN)/regard translate "Können Sie mir helfen, diesen Satz zu übersetzen?" --alignment
	@echo
	@echo "== A published worked example of self-attention: is it right?"
	@$(BIN)/regard check tutorial-printed || test $$? -eq 1
	@echo
	@echo "== The same example, computed properly, and checked"
	@$(BIN)/regard explain --example tutorial-corrected --word x1 --form vector
	@$(BIN)/regard check tutorial-corrected
	@echo
	@echo "== Two heads and a mask"
	@$(BIN)/regard explain --example two-heads --word 'bread#2' --head 1 --form vector
	@echo
	@echo "== What does it cost?"
	@$(BIN)/regard cost --lengths 256,512,1024,2048 --repeats 3

# Living pages and their index, in gallery/, for any static host. minilm is 84 MB to fetch and 49 MB
# in its page: make gallery MODELS="bahdanau lstmn" writes those alone.
MODELS ?= bahdanau transformer english-german word-by-word encoder-decoder lstmn simple-rnn+attention fashion minilm

gallery: $(READY)
	$(BIN)/regard live $(MODELS) --folder gallery

# Two at a time; tests of one file stay together, for they share what is costly to make.
test: $(READY)
	$(BIN)/python -m pytest -n 2 --dist loadfile

check: lint types script test

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(READY)
	$(BIN)/mypy

# The page's script: its form and its types. Needs Node and npm; nothing else does.
script: node_modules/.ready
	npx --no-install prettier --check regard/views/page/script
	npx --no-install tsc

# The lower bounds of pyproject.toml, where they matter most, in an environment of their own.
oldest: $(OLDEST)/.ready
	$(OLDEST)/bin/python -m pytest tests/attention tests/inside/observe

# Those that need no data, one after another; then a table of every goal and its figure.
bench: $(READY)
	$(BIN)/python benchmarks/goals.py

# A release, with a pinned cross compiler of its own: wheels in dist/; their kernels against float64,
# ARM's under qemu; and an installation as a stranger would try it.
wheels:
	$(PYTHON) release/wheels.py

neon: wheels
	$(PYTHON) release/kernels.py

install-check: wheels
	$(PYTHON) release/installations.py

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[words,plot,train,models,web,dev]'
	@touch $@

$(OLDEST)/.ready: pyproject.toml constraints-oldest.txt
	$(PYTHON) -m venv $(OLDEST)
	$(OLDEST)/bin/python -m pip install --quiet --upgrade pip
	$(OLDEST)/bin/python -m pip install --quiet --constraint constraints-oldest.txt \
	    --editable '.[words,plot,train,models,web]' hypothesis pytest
	@touch $@

node_modules/.ready: package.json package-lock.json
	npm ci --no-audit --no-fund --silent
	@touch $@

clean:
	rm -rf $(VENV) $(OLDEST) node_modules build dist .mypy_cache .pytest_cache .ruff_cache
