#!/bin/sh
# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Install what fa4 is built from and is not there yet: Debian 12's own packages.
# When all of it is there this takes a few milliseconds and needs no root.

set -eu

packages="
  ccache
  clang-22
  clang-format-22
  cmake
  git
  libgtest-dev
  libmlir-22-dev
  lld-22
  llvm-22-dev
  llvm-22-tools
  make
  mlir-22-tools
  ninja-build
  python3
  python3-dev
  python3-numpy
  python3-venv
"

# A tool that came from elsewhere (a Python or CMake not of Debian) counts too.
is_there() {
  if [ -e "/var/lib/dpkg/info/$1.list" ] || [ -e "/var/lib/dpkg/info/$1:amd64.list" ] ||
    [ -e "/var/lib/dpkg/info/$1:arm64.list" ]; then
    return 0
  fi
  case $1 in
    cmake | git | make | ccache | python3) command -v "$1" > /dev/null ;;
    ninja-build) command -v ninja > /dev/null ;;
    python3-dev) python3 -c 'import sysconfig; open(sysconfig.get_path("include") + "/Python.h")' 2> /dev/null ;;
    python3-venv) python3 -c 'import ensurepip' 2> /dev/null ;;
    *) return 1 ;;
  esac
}

missing=
for package in $packages; do
  is_there "$package" || missing="$missing $package"
done
missing=${missing# }

if [ -n "$missing" ]; then
  if ! command -v apt-get > /dev/null; then
    echo "setup: there is no apt-get here; install the equivalent of: $missing" >&2
    exit 1
  fi
  if [ "$(id -u)" != 0 ]; then
    echo "setup: run as root, or first run: apt-get install $missing" >&2
    exit 1
  fi
  echo "setup: installing $missing"
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -qq
  # shellcheck disable=SC2086
  if ! apt-get install -y -qq --no-install-recommends $missing > /dev/null; then
    echo "setup: apt-get could not install: $missing" >&2
    echo "setup: LLVM 22 is in the bookworm-security suite; is it among the sources of apt?" >&2
    exit 1
  fi
fi

if ! command -v ptxas > /dev/null && [ ! -x /usr/local/cuda/bin/ptxas ]; then
  echo "setup: no ptxas; PTX is produced, cubins are not (it comes with CUDA 13)"
fi
