# Every target does its own set-up in .venv. With PYTHON=... a target uses that interpreter as it is and installs nothing.
# PORT= (lab), TORCH=1 (lab) and NN= (reset, build) are described by `make help`.

BOOTSTRAP := $(if $(PYTHON),:,python3 course/bootstrap.py)
RUN := $(or $(PYTHON),.venv/bin/python)
export PORT TORCH

.DEFAULT_GOAL := help
.PHONY: help lab test nightly gpu build reset bench

help:  ## show this list
	@sed -n 's/^\([a-z]*\):  *## \(.*\)/  make \1\t\2/p' Makefile | expand -t 16

lab:  ## open the course in JupyterLab (PORT=8890 picks the port, TORCH=1 also installs PyTorch)
	@$(BOOTSTRAP) lab
	@exec $(RUN) -m course.lab

test:  ## lint and run every test
	@$(BOOTSTRAP) test
	@$(RUN) -m ruff check .
	@$(RUN) -m pytest -n 2 --dist loadfile

gpu:  ## run the notebooks and kernels that changed on this machine's NVIDIA GPU, and record the results
	@$(BOOTSTRAP) gpu
	@$(RUN) -m ladder.record && $(RUN) -m course.readme

build:  ## write the notebooks from course/ (NN=01: one chapter)
	@$(BOOTSTRAP) build
	@$(RUN) -m course.build $(NN)

reset:  ## start your copy of chapter NN=01 over; the old one is kept beside it
	@$(BOOTSTRAP) lab
	@$(RUN) -m course.lab reset $(NN)

nightly:  ## test the algebra on 10,000 generated calls an operation, and 20,000 against the DSL
	@$(BOOTSTRAP) test
	@HYPOTHESIS_PROFILE=nightly $(RUN) -m pytest -n 2 tests/test_layout.py tests/test_algebra.py tests/test_laws_verdicts.py tests/test_memory.py \
		tests/test_against_dsl.py tests/test_against_peer.py

bench:  ## measure how fast the algebra is, pictures are made and shown, and exercises answer
	@$(BOOTSTRAP) bench
	@$(RUN) benchmarks/algebra.py
	@$(RUN) benchmarks/pictures.py
	@$(RUN) benchmarks/exercises.py
