# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# The two commands that matter, make demo and make test, also do the set-up.

BUILD ?= build
CC := clang-22
CXX := clang++-22
JOBS ?= $(shell nproc)
CHIP ?= sm_100a
DEMO_OUT ?= $(BUILD)/demo
SOURCES = $(shell git ls-files '*.cpp' '*.h')
LIT_OPTS ?=

.PHONY: help setup python-env configure build demo test test-full docs format tidy install clean

help:
	@echo "make demo     install what is missing, build, compile examples/attention.mlir for $(CHIP), simulate it"
	@echo "make test     install what is missing, build, run every test"
	@echo "make test-full  the same, with every numeric case in every mode of ptx-sim"
	@echo "make build    build the libraries, tools and tests"
	@echo "make docs     write docs/reference from the .td files"
	@echo "make format   clang-format every source file"
	@echo "make tidy     clang-tidy every source file"
	@echo "make install  install to PREFIX (default /usr/local)"
	@echo "make clean    remove $(BUILD)"

setup:
	@scripts/setup.sh

# What the Python binding needs, from PyPI.
python-env: setup
	@scripts/python-env.sh $(BUILD)

$(BUILD)/build.ninja: | setup
	cmake -G Ninja -S . -B $(BUILD) -DCMAKE_C_COMPILER=$(CC) -DCMAKE_CXX_COMPILER=$(CXX)

configure: $(BUILD)/build.ninja

build: setup python-env configure
	ninja -C $(BUILD) -j $(JOBS) all

demo: setup configure
	ninja -C $(BUILD) -j $(JOBS) fa4-opt fa4-compile ptx-sim
	scripts/demo.sh $(BUILD) $(CHIP) $(DEMO_OUT)

test: setup python-env configure
	ninja -C $(BUILD) -j $(JOBS) all check-fa4-depends
	LIT_OPTS="$(LIT_OPTS)" ninja -C $(BUILD) check-fa4

test-full: setup python-env configure
	ninja -C $(BUILD) -j $(JOBS) all check-fa4-depends
	LIT_OPTS="$(LIT_OPTS) --param full=1" ninja -C $(BUILD) check-fa4
	python3 test/Numeric/report.py $(BUILD)

docs: setup configure
	ninja -C $(BUILD) fa4-docs

format:
	clang-format-22 -i $(SOURCES)

tidy: build
	clang-tidy-22 -p $(BUILD) --quiet $(filter %.cpp,$(SOURCES))

install: build
	cmake --install $(BUILD) $(if $(PREFIX),--prefix $(PREFIX))

clean:
	rm -rf $(BUILD)
