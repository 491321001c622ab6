// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Machine.h"

#include <algorithm>

using namespace ptxsim;

bool SharedMemory::holdsBarrier(uint32_t address, uint32_t size) const {
  return std::find(state.begin() + address, state.begin() + address + size,
                   uint8_t(Barrier)) != state.begin() + address + size;
}

void SharedMemory::mark(uint32_t address, uint32_t size, State s) {
  std::fill_n(state.begin() + address, size, uint8_t(s));
}
