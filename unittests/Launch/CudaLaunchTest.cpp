// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// CudaLaunch and CudaKernel on a driver that records: the functions of the
// driver that it calls are defined here.

#include "fa4/Launch/CudaLaunch.h"
#include "AttentionLaunch.h"
#include "fa4/Launch/CudaKernel.h"
#include "gtest/gtest.h"

using namespace fa4;
using namespace fa4::test;

namespace {

struct Recorded {
  std::vector<std::string> calls;
  CUresult result = CUDA_SUCCESS;
  std::string image, log;
  int sharedBytes = -1;
  CUlaunchConfig config = {};
  std::vector<void *> parameters;
};

Recorded recorded;

/// The arguments of cuTensorMapEncodeTiled, as text in place of a tensor map.
std::string textOf(const void *map) {
  return std::string(static_cast<const char *>(map));
}

class CudaLaunchTest : public testing::Test {
protected:
  void SetUp() override { recorded = Recorded(); }

  CUfunction function = reinterpret_cast<CUfunction>(uintptr_t(0x40));
  CUstream stream = reinterpret_cast<CUstream>(uintptr_t(0x80));
};

} // namespace

extern "C" {
CUresult CUDAAPI cuDriverGetVersion(int *version) {
  *version = 12080;
  return CUDA_SUCCESS;
}

CUresult CUDAAPI cuModuleLoadDataEx(CUmodule *module, const void *image,
                                    unsigned count, CUjit_option *options,
                                    void **values) {
  recorded.calls.push_back("load");
  recorded.image = static_cast<const char *>(image);
  EXPECT_EQ(count, 2u);
  EXPECT_EQ(options[0], CU_JIT_ERROR_LOG_BUFFER);
  EXPECT_EQ(options[1], CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES);
  recorded.log.copy(static_cast<char *>(values[0]),
                    reinterpret_cast<size_t>(values[1]) - 1);
  if (recorded.result == CUDA_SUCCESS)
    *module = reinterpret_cast<CUmodule>(uintptr_t(0x20));
  return recorded.result;
}

CUresult CUDAAPI cuModuleUnload(CUmodule module) {
  EXPECT_EQ(module, reinterpret_cast<CUmodule>(uintptr_t(0x20)));
  recorded.calls.push_back("unload");
  return CUDA_SUCCESS;
}

CUresult CUDAAPI cuModuleGetFunction(CUfunction *function, CUmodule,
                                     const char *name) {
  recorded.calls.push_back(name);
  *function = reinterpret_cast<CUfunction>(uintptr_t(0x40));
  return CUDA_SUCCESS;
}

CUresult CUDAAPI cuGetErrorName(CUresult error, const char **name) {
  *name = error == CUDA_ERROR_INVALID_VALUE ? "CUDA_ERROR_INVALID_VALUE" : "?";
  return CUDA_SUCCESS;
}

CUresult CUDAAPI cuFuncSetAttribute(CUfunction, CUfunction_attribute attribute,
                                    int value) {
  recorded.calls.push_back("attribute");
  if (attribute == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES)
    recorded.sharedBytes = value;
  return recorded.result;
}

CUresult CUDAAPI cuTensorMapEncodeTiled(
    CUtensorMap *map, CUtensorMapDataType type, cuuint32_t rank, void *base,
    const cuuint64_t *dims, const cuuint64_t *strides, const cuuint32_t *box,
    const cuuint32_t *elementStrides, CUtensorMapInterleave interleave,
    CUtensorMapSwizzle swizzle, CUtensorMapL2promotion promotion,
    CUtensorMapFloatOOBfill fill) {
  recorded.calls.push_back("encode");
  if (reinterpret_cast<uintptr_t>(map) % 64 != 0)
    return CUDA_ERROR_INVALID_VALUE;
  std::string text = std::to_string(type) + " " +
                     std::to_string(reinterpret_cast<uintptr_t>(base)) + ":";
  for (cuuint32_t i = 0; i != rank; ++i)
    text += " " + std::to_string(dims[i]) + "/" + std::to_string(box[i]) + "/" +
            std::to_string(elementStrides[i]);
  text += ";";
  for (cuuint32_t i = 0; i + 1 < rank; ++i)
    text += " " + std::to_string(strides[i]);
  text += "; " + std::to_string(interleave) + " " + std::to_string(swizzle) +
          " " + std::to_string(promotion) + " " + std::to_string(fill);
  std::memset(map, 0, sizeof(*map));
  std::memcpy(map, text.data(), std::min(text.size(), sizeof(*map) - 1));
  return recorded.result;
}

CUresult CUDAAPI cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction,
                                  void **parameters, void **extra) {
  recorded.calls.push_back("launch");
  recorded.config = *config;
  EXPECT_EQ(extra, nullptr);
  recorded.parameters.assign(parameters, parameters + 1);
  return recorded.result;
}
}

TEST_F(CudaLaunchTest, ParametersAndConfiguration) {
  LaunchDescriptor descriptor = makeAttentionDescriptor();
  Problem problem = makeProblem(2, 1000, 3000, 32, 8);
  BoundLaunch bound = bindOrFail(descriptor, problem);
  llvm::Expected<CudaLaunch> made = CudaLaunch::create(bound, function);
  ASSERT_TRUE(static_cast<bool>(made));
  CudaLaunch launch = std::move(*made);
  EXPECT_FALSE(launch.isEmpty());
  EXPECT_EQ(launch.getFunction(), function);
  EXPECT_EQ(recorded.sharedBytes, bound.dynamicSharedBytes);
  ASSERT_FALSE(static_cast<bool>(launch.enqueue(stream)));
  EXPECT_EQ(recorded.calls.back(), "launch");
  EXPECT_EQ(recorded.config.hStream, stream);
  EXPECT_EQ(recorded.config.gridDimX, bound.grid[0]);
  EXPECT_EQ(recorded.config.blockDimX, bound.block[0]);
  EXPECT_EQ(recorded.config.sharedMemBytes, bound.dynamicSharedBytes);
  EXPECT_EQ(recorded.config.numAttrs, 0u);
  EXPECT_EQ(recorded.parameters[0], launch.getParameters()[0]);

  for (size_t i = 0; i != bound.parameters.size(); ++i) {
    const BoundParameter &parameter = bound.parameters[i];
    const void *at = launch.getParameters()[i];
    switch (parameter.kind) {
    case LaunchParameter::Kind::TensorMap: {
      const TensorMapSpec &spec = parameter.tensorMap;
      std::string text = std::to_string(int(spec.elementType)) + " " +
                         std::to_string(spec.baseAddress) + ":";
      for (size_t d = 0; d != spec.dims.size(); ++d)
        text += " " + std::to_string(spec.dims[d]) + "/" +
                std::to_string(spec.box[d]) + "/1";
      text += ";";
      for (int64_t stride : spec.strides)
        text += " " + std::to_string(stride);
      EXPECT_EQ(textOf(at).substr(0, text.size()), text) << parameter.name;
      EXPECT_NE(textOf(at).find("; 0 3 "), std::string::npos) << textOf(at);
      break;
    }
    case LaunchParameter::Kind::Pointer:
      EXPECT_EQ(*static_cast<const uint64_t *>(at), parameter.pointer);
      break;
    case LaunchParameter::Kind::I32:
      EXPECT_EQ(*static_cast<const int32_t *>(at), parameter.i32);
      break;
    case LaunchParameter::Kind::F32:
      EXPECT_EQ(*static_cast<const float *>(at), parameter.f32);
      break;
    }
  }
}

TEST_F(CudaLaunchTest, NothingToLaunch) {
  LaunchDescriptor descriptor = makeAttentionDescriptor();
  BoundLaunch bound;
  bound.skip = true;
  llvm::Expected<CudaLaunch> launch = CudaLaunch::create(bound, function);
  ASSERT_TRUE(static_cast<bool>(launch));
  EXPECT_TRUE(launch->isEmpty());
  EXPECT_FALSE(static_cast<bool>(launch->enqueue(stream)));
  EXPECT_TRUE(recorded.calls.empty());
}

TEST_F(CudaLaunchTest, ErrorsOfTheDriver) {
  BoundLaunch bound;
  bound.grid = bound.block = {1, 1, 1};
  bound.dynamicSharedBytes = 1000;
  recorded.result = CUDA_ERROR_INVALID_VALUE;
  llvm::Expected<CudaLaunch> refused = CudaLaunch::create(bound, function);
  ASSERT_FALSE(static_cast<bool>(refused));
  EXPECT_EQ(llvm::toString(refused.takeError()),
            "dynamic shared memory of 1000 bytes: CUDA_ERROR_INVALID_VALUE");
  BoundParameter map;
  map.kind = LaunchParameter::Kind::TensorMap;
  map.name = "q_map";
  map.slot = {0, 128, 64};
  map.tensorMap.dims = map.tensorMap.box = {64};
  bound.parameters.push_back(map);
  refused = CudaLaunch::create(bound, function);
  ASSERT_FALSE(static_cast<bool>(refused));
  EXPECT_EQ(llvm::toString(refused.takeError()),
            "parameter 'q_map': CUDA_ERROR_INVALID_VALUE");

  recorded.result = CUDA_SUCCESS;
  llvm::Expected<CudaLaunch> launch = CudaLaunch::create(bound, function);
  ASSERT_TRUE(static_cast<bool>(launch));
  recorded.result = CUDA_ERROR_INVALID_VALUE;
  EXPECT_EQ(llvm::toString(launch->enqueue(stream)),
            "launch: CUDA_ERROR_INVALID_VALUE");
}

TEST_F(CudaLaunchTest, AKernelIsLoadedAndUnloaded) {
  LaunchDescriptor descriptor = makeAttentionDescriptor();
  {
    llvm::Expected<CudaKernel> loaded =
        CudaKernel::load(descriptor, ".version 8.8");
    ASSERT_TRUE(static_cast<bool>(loaded));
    CudaKernel kernel = std::move(*loaded);
    EXPECT_EQ(kernel.getFunction(), function);
  }
  EXPECT_EQ(recorded.image, ".version 8.8");
  EXPECT_EQ(recorded.calls,
            (std::vector<std::string>{"load", descriptor.kernel, "unload"}));
}

TEST_F(CudaLaunchTest, WhatTheDriversCompilerSays) {
  LaunchDescriptor descriptor = makeAttentionDescriptor();
  recorded.result = CUDA_ERROR_INVALID_VALUE;
  recorded.log = "line 7; error : Unknown symbol 'x'\n";
  llvm::Expected<CudaKernel> refused = CudaKernel::load(descriptor, "x");
  ASSERT_FALSE(static_cast<bool>(refused));
  EXPECT_EQ(llvm::toString(refused.takeError()),
            "kernel '" + descriptor.kernel + "', made for " + descriptor.chip +
                " in PTX " + descriptor.ptx +
                ", on a driver of CUDA 12.8: CUDA_ERROR_INVALID_VALUE\n"
                "the driver's compiler says:\n"
                "line 7; error : Unknown symbol 'x'");
  recorded.log.clear();
  refused = CudaKernel::load(descriptor, "x");
  ASSERT_FALSE(static_cast<bool>(refused));
  std::string text = llvm::toString(refused.takeError());
  EXPECT_EQ(text.find("says"), std::string::npos) << text;
}
