// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The special registers that read as plain operands. Clocks are in MoveOps.cpp.

#include "Decoder.h"

#include <algorithm>

using namespace ptxsim;

uint32_t Decoder::special(const std::string &name, Type &type) {
  static constexpr const char *kWords[] = {"%tid.x",
                                           "%tid.y",
                                           "%tid.z",
                                           "%ntid.x",
                                           "%ntid.y",
                                           "%ntid.z",
                                           "%ctaid.x",
                                           "%ctaid.y",
                                           "%ctaid.z",
                                           "%nctaid.x",
                                           "%nctaid.y",
                                           "%nctaid.z",
                                           "%laneid",
                                           "%warpid",
                                           "%nwarpid",
                                           "%smid",
                                           "%nsmid",
                                           "%lanemask_eq",
                                           "%lanemask_le",
                                           "%lanemask_lt",
                                           "%lanemask_ge",
                                           "%lanemask_gt",
                                           "%dynamic_smem_size",
                                           "%total_smem_size",
                                           "%aggr_smem_size",
                                           "%clusterid.x",
                                           "%clusterid.y",
                                           "%clusterid.z",
                                           "%nclusterid.x",
                                           "%nclusterid.y",
                                           "%nclusterid.z",
                                           "%cluster_ctaid.x",
                                           "%cluster_ctaid.y",
                                           "%cluster_ctaid.z",
                                           "%cluster_nctaid.x",
                                           "%cluster_nctaid.y",
                                           "%cluster_nctaid.z",
                                           "%cluster_ctarank",
                                           "%cluster_nctarank"};
  type = Type::None;
  auto numbered = [&](const char *prefix, unsigned limit, const char *suffix) {
    for (unsigned i = 0; i < limit; ++i)
      if (name == prefix + std::to_string(i) + suffix)
        return true;
    return false;
  };
  if (std::find(std::begin(kWords), std::end(kWords), name) != std::end(kWords))
    type = Type::U32;
  else if (name == "%gridid" || name == "%current_graph_exec" ||
           numbered("%pm", 8, "_64"))
    type = Type::U64;
  else if (numbered("%pm", 8, "") || numbered("%envreg", 32, "") ||
           name == "%reserved_smem_offset_begin" ||
           name == "%reserved_smem_offset_end" ||
           name == "%reserved_smem_offset_cap")
    type = Type::U32;
  else if (name == "%is_explicit_cluster")
    type = Type::Pred;
  if (type == Type::None) {
    fail("unknown register '" + name + "'");
    return 0;
  }
  auto it = program.specials.find(name);
  if (it == program.specials.end())
    it = program.specials
             .emplace(name, std::make_pair(allocate(bitWidth(type)), type))
             .first;
  return it->second.first;
}
