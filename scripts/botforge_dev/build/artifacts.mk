# Every function's and layer's Makefile includes this; `sam build` runs make in the root of the checkout.
PYTHON := $(or $(BOTFORGE_PYTHON),$(wildcard .venv/bin/python),python3)

build-%:
	PYTHONPATH=scripts "$(PYTHON)" -m botforge_dev.build artifact $* "$(ARTIFACTS_DIR)"
