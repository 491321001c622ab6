// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// From a launch descriptor (docs/abi.md) and concrete operands to a Launch,
// and the launch files of ptx-sim (docs/simulator.md).

#ifndef PTXSIM_LAUNCHFILE_H
#define PTXSIM_LAUNCHFILE_H

#include "ptxsim/Simulator.h"

#include <map>
#include <string>
#include <vector>

namespace ptxsim {

/// An operand of a call. Shape and strides in elements, slowest first.
struct Tensor {
  std::string name;
  ElementType type = ElementType::F16;
  std::vector<int64_t> shape, strides;
  uint64_t address = 0;
};

struct Call {
  std::vector<Tensor> tensors;
  std::map<std::string, double> scalars;
};

/// Evaluates the descriptor \p json for \p call. \p skip is set when there is
/// nothing to launch. False with \p error set when the descriptor is malformed
/// or the call does not fit it.
bool bindDescriptor(const std::string &json, const Call &call, Launch &launch,
                    bool &skip, std::string &error);

/// A launch file, its buffers mapped and filled.
struct LaunchFile {
  struct Output {
    std::string path;
    uint64_t address = 0;
    uint64_t bytes = 0;
    ElementType type = ElementType::F16;
    std::vector<int64_t> shape;
  };
  Launch launch;
  bool skip = false;
  std::vector<Output> outputs;
};

/// Reads \p path; files in it are relative to its folder.
bool loadLaunchFile(const std::string &path, Memory &memory, LaunchFile &out,
                    std::string &error);

/// Writes the outputs as .npy (bf16 as <u2). Those of a run that was
/// interrupted are \p partial and get names of their own: 'o.partial.npy'.
bool writeOutputs(const LaunchFile &file, const Memory &memory,
                  std::string &error, bool partial = false);

/// The name of an element type in descriptors, and back.
const char *elementTypeName(ElementType type);
bool elementTypeByName(const std::string &name, ElementType &type);

} // namespace ptxsim

#endif // PTXSIM_LAUNCHFILE_H
