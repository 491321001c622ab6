#!/bin/sh
# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# python-env.sh BUILD: makes BUILD/python-env, a virtual environment with what the Python
# binding of ptx-sim needs, and lets an existing build see it. Nothing else needs it: without
# PyPI it says so, and that is no failure.

set -eu
build=$1
env=$build/python-env

[ -e "$env/complete" ] && exit 0

# The first Python that has its headers and can make environments.
python=
for candidate in ${PYTHON:-python3 /usr/bin/python3}; do
  if [ -z "$python" ] && "$candidate" - 2> /dev/null << 'END'; then
import ensurepip, os, sys, sysconfig
sys.exit(sys.version_info < (3, 10) or not os.path.exists(sysconfig.get_path("include") + "/Python.h"))
END
    python=$candidate
  fi
done
if [ -z "$python" ]; then
  echo "python-env: no Python binding, as no Python of 3.10 or newer with headers and venv is here"
  exit 0
fi

mkdir -p "$build"
rm -rf "$env"
if ! "$python" -m venv "$env" > "$build/python-env.log" 2>&1 ||
  ! "$env/bin/python" -m pip install -q --disable-pip-version-check --timeout 15 --retries 1 \
    'nanobind>=3.1,<4' numpy ml_dtypes typing_extensions >> "$build/python-env.log" 2>&1; then
  rm -rf "$env"
  echo "python-env: no Python binding, as its packages cannot be had from PyPI ($build/python-env.log)"
  exit 0
fi
# The environment finds the package in the build folder.
site=$("$env/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
echo "$(cd "$build" && pwd)/python" > "$site/ptxsim.pth"
touch "$env/complete"
# CMake looks for nanobind when it configures.
if [ -e "$build/CMakeCache.txt" ]; then
  touch "$build/CMakeCache.txt"
fi
echo "python-env: $env has NumPy and nanobind"
