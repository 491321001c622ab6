// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs a kernel of fa4 with the CUDA driver alone, and compares a few rows with
// the definition:
//
//   launch FOLDER/NAME B Sq Skv Hq Hkv D [causal]

#include "fa4/Launch/CudaKernel.h"
#include "fa4/Launch/CudaLaunch.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>
#include <cstdlib>
#include <random>

using Half = _Float16;

static void exitOnError(llvm::Error error) {
  if (!error)
    return;
  llvm::errs() << llvm::toString(std::move(error)) << '\n';
  std::exit(1);
}

template <typename T> static T exitOnError(llvm::Expected<T> value) {
  if (!value)
    exitOnError(value.takeError());
  return std::move(*value);
}

static std::unique_ptr<llvm::MemoryBuffer> readFile(const std::string &path) {
  auto buffer = llvm::MemoryBuffer::getFile(path);
  if (!buffer)
    exitOnError(
        llvm::createStringError(path + ": " + buffer.getError().message()));
  return std::move(*buffer);
}

/// A contiguous [B, S, H, D] tensor on the device.
struct Tensor {
  fa4::TensorArgument argument;
  std::vector<Half> values;

  Tensor(int64_t b, int64_t s, int64_t h, int64_t d, unsigned seed) {
    argument.elementType = fa4::ElementType::F16;
    argument.shape = {b, s, h, d};
    argument.strides = {s * h * d, h * d, d, 1};
    values.resize(static_cast<size_t>(b * s * h * d));
    std::mt19937 random(seed);
    std::normal_distribution<float> normal;
    for (Half &value : values)
      value = static_cast<Half>(seed ? normal(random) : NAN);
    CUdeviceptr address = 0;
    exitOnError(fa4::checkCuda(cuMemAlloc(&address, bytes()), "memory"));
    argument.address = address;
    exitOnError(fa4::checkCuda(cuMemcpyHtoD(address, values.data(), bytes()),
                               "copy to the device"));
  }

  size_t bytes() const { return values.size() * sizeof(Half); }
  const Half *row(int64_t b, int64_t s, int64_t h) const {
    const auto &strides = argument.strides;
    return values.data() + b * strides[0] + s * strides[1] + h * strides[2];
  }
};

/// The largest error of row i of the last head of the last batch.
static double compareRow(const Tensor &q, const Tensor &k, const Tensor &v,
                         const Tensor &o, int64_t i, bool causal) {
  const auto &shape = q.argument.shape;
  int64_t b = shape[0] - 1, head = shape[2] - 1, d = shape[3];
  int64_t keys = k.argument.shape[1];
  int64_t kvHead = k.argument.shape[2] - 1;
  int64_t visible = causal ? std::min(keys, i + 1 + keys - shape[1]) : keys;
  std::vector<double> sum(static_cast<size_t>(d));
  double weights = 0;
  for (int64_t j = 0; j < visible; ++j) {
    double logit = 0;
    for (int64_t c = 0; c != d; ++c)
      logit += double(q.row(b, i, head)[c]) * double(k.row(b, j, kvHead)[c]);
    double weight = std::exp(logit / std::sqrt(double(d)));
    weights += weight;
    for (int64_t c = 0; c != d; ++c)
      sum[size_t(c)] += weight * double(v.row(b, j, kvHead)[c]);
  }
  double worst = 0;
  for (int64_t c = 0; c != d; ++c) {
    double expected = weights > 0 ? sum[size_t(c)] / weights : 0;
    double error = std::fabs(double(o.row(b, i, head)[c]) - expected);
    // Written so that NaN is the worst.
    if (!(error <= worst))
      worst = error;
  }
  return worst;
}

int main(int argc, char **argv) {
  if (argc < 8) {
    llvm::errs() << "usage: launch FOLDER/NAME B Sq Skv Hq Hkv D [causal]\n";
    return 2;
  }
  std::string path = argv[1];
  int64_t sizes[6];
  for (int i = 0; i != 6; ++i)
    sizes[i] = std::atoll(argv[i + 2]);
  auto [b, sq, skv, hq, hkv, d] = sizes;
  bool causal = argc > 8 && llvm::StringRef(argv[8]) == "causal";
  fa4::LaunchDescriptor descriptor = exitOnError(
      fa4::LaunchDescriptor::fromJSON(readFile(path + ".json")->getBuffer()));

  CUdevice device = 0;
  CUcontext context = nullptr;
  exitOnError(fa4::checkCuda(cuInit(0), "driver"));
  exitOnError(fa4::checkCuda(cuDeviceGet(&device, 0), "device"));
  exitOnError(
      fa4::checkCuda(cuDevicePrimaryCtxRetain(&context, device), "context"));
  exitOnError(fa4::checkCuda(cuCtxSetCurrent(context), "context"));
  // The cubin runs as it is; PTX is compiled by the driver.
  std::string cubin = path + ".cubin";
  bool isMade = llvm::sys::fs::exists(cubin);
  fa4::CudaKernel kernel = exitOnError(fa4::CudaKernel::load(
      descriptor, readFile(isMade ? cubin : path + ".ptx")->getBuffer()));

  Tensor q(b, sq, hq, d, 1), k(b, skv, hkv, d, 2), v(b, skv, hkv, d, 3);
  Tensor o(b, sq, hq, d, 0);
  fa4::Problem problem;
  problem.tensors["q"] = q.argument;
  problem.tensors["k"] = k.argument;
  problem.tensors["v"] = v.argument;
  problem.tensors["o"] = o.argument;
  fa4::BoundLaunch bound = exitOnError(fa4::bind(descriptor, problem));
  fa4::CudaLaunch launch =
      exitOnError(fa4::CudaLaunch::create(bound, kernel.getFunction()));
  exitOnError(launch.enqueue(nullptr));
  exitOnError(fa4::checkCuda(cuCtxSynchronize(), descriptor.kernel));
  exitOnError(fa4::checkCuda(
      cuMemcpyDtoH(o.values.data(), o.argument.address, o.bytes()),
      "copy to the host"));

  double worst = 0;
  for (int64_t i : {int64_t(0), sq / 2, sq - 1}) {
    double error = compareRow(q, k, v, o, i, causal);
    if (!(error <= worst))
      worst = error;
  }
  llvm::outs() << descriptor.kernel << ": largest error " << worst << '\n';
  return worst <= 1e-2 ? 0 : 1;
}
