// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A bound launch as the CUDA driver takes it. Header only, as fa4 itself is
// built without CUDA: whoever includes it has cuda.h and links the driver.
//
//   CUfunction function = ...;              // as of fa4::CudaKernel
//   auto bound = fa4::bind(descriptor, problem);
//   auto launch = fa4::CudaLaunch::create(*bound, function);
//   launch->enqueue(stream);                // as often as wanted
//
// Errors: what the driver refuses, with its name for it and what it was asked.

#ifndef FA4_LAUNCH_CUDALAUNCH_H
#define FA4_LAUNCH_CUDALAUNCH_H

#include "fa4/Launch/Bind.h"
#include "llvm/ADT/Twine.h"
#include <cstring>
#include <cuda.h>
#include <utility>
#include <vector>

namespace fa4 {

/// Success, or "WHAT: CUDA_ERROR_..." and `details`.
inline llvm::Error checkCuda(CUresult result, const llvm::Twine &what,
                             const llvm::Twine &details = "") {
  if (result == CUDA_SUCCESS)
    return llvm::Error::success();
  const char *name = nullptr;
  if (cuGetErrorName(result, &name) != CUDA_SUCCESS || !name)
    name = "unknown error";
  return llvm::createStringError(what + ": " + name + details);
}

/// The parameters of one launch in the memory that the driver reads, and its
/// configuration. It holds the operands' addresses, not the operands, and is
/// good for any number of launches; moving it keeps it so.
class CudaLaunch {
public:
  /// Encodes the tensor maps and lets `function` have the dynamic shared
  /// memory. The function's context must be current.
  static llvm::Expected<CudaLaunch> create(const BoundLaunch &bound,
                                           CUfunction function) {
    CudaLaunch launch;
    launch.function = function;
    if (bound.skip)
      return std::move(launch);
    if (llvm::Error error = launch.write(bound))
      return std::move(error);
    CUlaunchConfig &config = launch.config;
    config.gridDimX = static_cast<unsigned>(bound.grid[0]);
    config.gridDimY = static_cast<unsigned>(bound.grid[1]);
    config.gridDimZ = static_cast<unsigned>(bound.grid[2]);
    config.blockDimX = static_cast<unsigned>(bound.block[0]);
    config.blockDimY = static_cast<unsigned>(bound.block[1]);
    config.blockDimZ = static_cast<unsigned>(bound.block[2]);
    config.sharedMemBytes = static_cast<unsigned>(bound.dynamicSharedBytes);
    if (llvm::Error error = checkCuda(
            cuFuncSetAttribute(function,
                               CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                               static_cast<int>(bound.dynamicSharedBytes)),
            "dynamic shared memory of " +
                llvm::Twine(bound.dynamicSharedBytes) + " bytes"))
      return std::move(error);
    return std::move(launch);
  }

  CudaLaunch(CudaLaunch &&) = default;
  CudaLaunch &operator=(CudaLaunch &&) = default;
  // A copy's pointers would be to the parameters of the original.
  CudaLaunch(const CudaLaunch &) = delete;
  CudaLaunch &operator=(const CudaLaunch &) = delete;

  /// There is nothing to launch: enqueue() does nothing, and getConfig() and
  /// getParameters() are empty.
  bool isEmpty() const { return config.gridDimX == 0; }

  /// What cuLaunchKernelEx takes: add attributes and the stream at will.
  const CUlaunchConfig &getConfig() const { return config; }
  CUfunction getFunction() const { return function; }
  /// One pointer a parameter; they live as long as this.
  void **getParameters() { return pointers.data(); }

  /// Launches on a stream of the function's context. Does not wait.
  llvm::Error enqueue(CUstream stream) {
    if (isEmpty())
      return llvm::Error::success();
    CUlaunchConfig here = config;
    here.hStream = stream;
    return checkCuda(
        cuLaunchKernelEx(&here, function, pointers.data(), nullptr), "launch");
  }

private:
  CUfunction function = nullptr;
  CUlaunchConfig config = {};
  /// All parameters, at the offsets of their slots; tensor maps for the sake of
  /// their alignment.
  std::vector<CUtensorMap> storage;
  std::vector<void *> pointers;

  CudaLaunch() = default;

  llvm::Error write(const BoundLaunch &bound) {
    int64_t bytes = 0;
    for (const BoundParameter &parameter : bound.parameters)
      bytes = parameter.slot.offset + parameter.slot.size;
    storage.resize((static_cast<size_t>(bytes) + sizeof(CUtensorMap) - 1) /
                   sizeof(CUtensorMap));
    char *start = reinterpret_cast<char *>(storage.data());
    for (const BoundParameter &parameter : bound.parameters) {
      void *at = start + parameter.slot.offset;
      pointers.push_back(at);
      switch (parameter.kind) {
      case LaunchParameter::Kind::TensorMap:
        if (llvm::Error error = encode(parameter, at))
          return error;
        break;
      case LaunchParameter::Kind::Pointer:
        std::memcpy(at, &parameter.pointer, sizeof(parameter.pointer));
        break;
      case LaunchParameter::Kind::I32:
        std::memcpy(at, &parameter.i32, sizeof(parameter.i32));
        break;
      case LaunchParameter::Kind::F32:
        std::memcpy(at, &parameter.f32, sizeof(parameter.f32));
        break;
      }
    }
    return llvm::Error::success();
  }

  static llvm::Error encode(const BoundParameter &parameter, void *at) {
    const TensorMapSpec &spec = parameter.tensorMap;
    llvm::SmallVector<cuuint64_t, 5> dims(spec.dims.begin(), spec.dims.end());
    llvm::SmallVector<cuuint64_t, 4> strides(spec.strides.begin(),
                                             spec.strides.end());
    llvm::SmallVector<cuuint32_t, 5> box(spec.box.begin(), spec.box.end());
    llvm::SmallVector<cuuint32_t, 5> elementStrides(spec.dims.size(), 1);
    if (!spec.elementStrides.empty())
      elementStrides.assign(spec.elementStrides.begin(),
                            spec.elementStrides.end());
    return checkCuda(
        cuTensorMapEncodeTiled(
            static_cast<CUtensorMap *>(at),
            static_cast<CUtensorMapDataType>(spec.elementType),
            static_cast<cuuint32_t>(spec.getRank()),
            reinterpret_cast<void *>(spec.baseAddress), dims.data(),
            strides.data(), box.data(), elementStrides.data(),
            static_cast<CUtensorMapInterleave>(spec.interleave),
            static_cast<CUtensorMapSwizzle>(getTensorMapCode(spec.swizzle)),
            static_cast<CUtensorMapL2promotion>(spec.l2Promotion),
            static_cast<CUtensorMapFloatOOBfill>(spec.oobFill)),
        "parameter '" + parameter.name + "'");
  }
};

} // namespace fa4

#endif // FA4_LAUNCH_CUDALAUNCH_H
