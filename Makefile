# Every target does its own set-up in .venv. With PYTHON=... a target uses that interpreter as it is and installs nothing.
# PORT= (lab), TORCH=1 (lab) and NN= (reset, build) are described by `make help`.

BOOTSTRAP := $(if $(PYTHON),:,python3 course/bootstrap.py)
RUN := $(or $(PYTHON),.venv/bin/python)
export PORT TORCH

.DEFAULT_GOAL := help
.PHONY: help lab test gpu build reset bench

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
	@exec $(RUN) -m ladder.record

build:  ## write the notebooks from course/ (NN=01: one chapter)
	@$(BOOTSTRAP) build
	@$(RUN) -m course.build $(NN)

reset:  ## start your copy of chapter NN=01 over; the old one is kept beside it
	@$(BOOTSTRAP) lab
	@$(RUN) -m course.lab reset $(NN)

bench:  ## measure how fast pictures are made and shown
	@$(BOOTSTRAP) bench
	@$(RUN) benchmarks/pictures.py
