# make demo   set up, hold a spoken conversation, write its report to out/demo
# make test   set up, check the style and the types, run every test
# make lint   set up, check the style and the types only
# make fuzz   set up, let a fuzzer look for frames that break a codec (ARGS="-max_total_time=600")
# make setup  set up both, run nothing
# make lock   renew the lock files from pyproject.toml (LOCK="name ..." only these packages)
# make clean  remove everything that can be made again
#
# ARGS goes to the program: make demo ARGS="--room --fast", make test ARGS="tests/core -k floor".

SHELL := /bin/bash
BIN := .venv/bin
.DEFAULT_GOAL := help
.PHONY: help demo test lint fuzz setup lock clean

help:
	@sed -n 's/^# \(make .*\)/\1/p' Makefile

demo:
	@tools/setup.sh demo
	@$(BIN)/voice demo $(ARGS)

# Every check runs, even after one that failed, so that one run tells all that is wrong.
test:
	@tools/setup.sh test
	@status=0; $(MAKE) --no-print-directory lint || status=1; $(BIN)/python -m pytest $(ARGS) || status=1; exit $$status

lint:
	@tools/setup.sh test
	@status=0; for check in "ruff check" "ruff format --check" "mypy"; do \
	  echo "$$check"; $(BIN)/$$check || status=1; done; exit $$status

fuzz:
	@tools/setup.sh test
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check "atheris>=3.0"
	@for codec in infermedica ces; do $(BIN)/python tools/fuzz.py $$codec $(or $(ARGS),-max_total_time=60) || exit 1; done

setup:
	@tools/setup.sh demo
	@tools/setup.sh test

lock:
	@tools/lock.sh $(LOCK)

clean:
	@rm -rf .venv out build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis *.egg-info
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +
