# One word per task. Everything works on a fresh clone with only python3 and make present.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMPS := .stamps
PIP := $(BIN)/python -m pip --disable-pip-version-check
unexport PYTHONDONTWRITEBYTECODE  # compiled tests are kept, so that the second run starts at once

.DEFAULT_GOAL := help
.PHONY: help setup setup-dev demo view test test-slow test-browser check format bench docs fuzz check-blender lock clips steered clean

help:            ## what there is
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

setup: $(STAMPS)/run            ## .venv with jostle in it, so that .venv/bin/jostle runs
setup-dev: $(STAMPS)/dev        ## the same with what tests and checks need

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "jostle needs Python 3.11 or newer; say which with: make PYTHON=python3.12 ..."; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(STAMPS)/run: requirements/run.txt pyproject.toml | $(BIN)/python
	@mkdir -p $(STAMPS)
	$(PIP) install --quiet --requirement requirements/run.txt
	$(PIP) install --quiet --no-deps --editable .
	@touch $@

$(STAMPS)/dev: $(STAMPS)/run requirements/dev.txt
	$(PIP) install --quiet --requirement requirements/dev.txt
	@touch $@

demo: setup      ## the viewer on the shipped clips; OUT=demo.html (or .mp4, .bvh) writes a file and exits
	@$(BIN)/jostle demo $(if $(OUT),--out $(OUT)) $(ARGS)

test: setup-dev  ## the tests; where JOSTLE_DATA names the mocap folder, on real motion too
	$(BIN)/python -m pytest $(ARGS)

test-slow: setup-dev  ## everything, the slow ones too
	$(BIN)/python -m pytest -m '' $(ARGS)

test-browser: setup-dev  ## the page in a real browser
	$(BIN)/python -m pytest -m "browser and not slow" $(ARGS)

check: setup-dev ## style and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright

format: setup-dev ## rewrite in the house style
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: setup-dev ## speed beside peers, as ratios in one run
	$(BIN)/python -m benchmarks $(ARGS)

fuzz: setup-dev  ## coverage-guided fuzzing of the readers (SECONDS=60)
	$(PIP) install --quiet --requirement requirements/fuzz.txt
	$(BIN)/python tests/fuzz/readers.py $(if $(SECONDS),--seconds $(SECONDS))

check-blender: setup ## our BVH and GLB in real Blender, joint by joint
	$(BIN)/python tests/blender/compare.py --python $(PYTHON)

docs: setup      ## draw the pictures of README and docs anew
	$(BIN)/python docs/make_images.py

clips: setup     ## make the shipped clips anew
	$(BIN)/python -m jostle.assets.make

steered: setup   ## learn the shipped character that is steered anew
	$(BIN)/python -m jostle.assets.steered

lock:            ## renew the locked versions (needs pip-tools in .venv)
	$(PIP) install --quiet pip-tools
	for set in run dev fuzz; do \
	  $(BIN)/pip-compile --quiet --strip-extras --no-emit-index-url --no-emit-trusted-host --no-emit-find-links --no-annotate --no-header \
	    $$( [ $$set = run ] || echo "--constraint requirements/run.txt --extra $$set" ) $$( [ $$set = dev ] && echo "--extra c3d --extra cluster --extra usd" ) \
	    --output-file requirements/$$set.txt pyproject.toml; done

clean:           ## remove what make made
	rm -rf $(VENV) $(STAMPS) build dist out .pytest_cache .ruff_cache
