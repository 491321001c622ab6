// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A kernel's image in the CUDA driver. Header only, as CudaLaunch.h.
//
//   auto kernel = fa4::CudaKernel::load(descriptor, image);
//   auto launch = fa4::CudaLaunch::create(*bound, kernel->getFunction());
//
// Errors: the driver's name for it, what the kernel was made for, the driver's
// version, and all that the driver's compiler of PTX says.

#ifndef FA4_LAUNCH_CUDAKERNEL_H
#define FA4_LAUNCH_CUDAKERNEL_H

#include "fa4/Launch/CudaLaunch.h"
#include "fa4/Launch/LaunchDescriptor.h"
#include "llvm/ADT/StringRef.h"
#include <cuda.h>
#include <string>
#include <utility>
#include <vector>

namespace fa4 {

/// A module of the context that is current where it is loaded; it is unloaded
/// with this.
class CudaKernel {
public:
  /// `image` is NAME.cubin or NAME.ptx, whole.
  static llvm::Expected<CudaKernel> load(const LaunchDescriptor &descriptor,
                                         llvm::StringRef image) {
    CudaKernel kernel;
    std::string log(logBytes, '\0');
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER,
                              CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {log.data(), reinterpret_cast<void *>(logBytes)};
    // The driver finds the end of PTX by a zero behind it.
    std::string text = image.str();
    CUresult result =
        cuModuleLoadDataEx(&kernel.module, text.c_str(), 2, options, values);
    if (result == CUDA_SUCCESS)
      result = cuModuleGetFunction(&kernel.function, kernel.module,
                                   descriptor.kernel.c_str());
    if (result != CUDA_SUCCESS)
      return refusal(result, descriptor, log.c_str());
    return std::move(kernel);
  }

  CudaKernel(CudaKernel &&other)
      : module(std::exchange(other.module, nullptr)),
        function(std::exchange(other.function, nullptr)) {}
  CudaKernel &operator=(CudaKernel &&other) {
    std::swap(module, other.module);
    std::swap(function, other.function);
    return *this;
  }
  ~CudaKernel() {
    if (module)
      (void)cuModuleUnload(module);
  }

  CUfunction getFunction() const { return function; }

private:
  static constexpr size_t logBytes = 1 << 16;

  CUmodule module = nullptr;
  CUfunction function = nullptr;

  CudaKernel() = default;

  static llvm::Error refusal(CUresult result,
                             const LaunchDescriptor &descriptor,
                             llvm::StringRef log) {
    int version = 0;
    (void)cuDriverGetVersion(&version);
    std::string said = log.rtrim().empty() ? ""
                                           : "\nthe driver's compiler says:\n" +
                                                 log.rtrim().str();
    return checkCuda(result,
                     "kernel '" + descriptor.kernel + "', made for " +
                         descriptor.chip + " in PTX " + descriptor.ptx +
                         ", on a driver of CUDA " +
                         std::to_string(version / 1000) + "." +
                         std::to_string(version % 1000 / 10),
                     said);
  }
};

} // namespace fa4

#endif // FA4_LAUNCH_CUDAKERNEL_H
