// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Shared between the tensor and the linear bulk copies.

#ifndef PTXSIM_LIB_BULKCOPY_H
#define PTXSIM_LIB_BULKCOPY_H

#include "Decoder.h"
#include "Machine.h"

namespace ptxsim {

/// Takes the window off a shared address; false with a fault unless the range
/// is there and aligned.
bool sharedOperand(Warp &w, const Op &op, uint64_t &address, uint64_t bytes,
                   unsigned alignment, const char *what);

/// Adds an operation to the lane's current group.
std::shared_ptr<BulkGroup> openGroup(Warp &w, const Op &op, unsigned lane,
                                     const RaceDetector::Token &token);

/// Reports the copy's access to the race detector, if there is one.
bool raceCopy(Warp &w, const Op &op, unsigned lane, uint64_t address,
              uint64_t bytes, bool write, uint64_t bar,
              RaceDetector::Token &token);

/// Queues a store: the source is read first, the destination written later.
template <class Read, class Write>
void issueStore(Cta &cta, std::shared_ptr<BulkGroup> group, Read read,
                Write write) {
  Cta *c = &cta;
  uint64_t queue = cta.engines.fresh();
  auto data = std::make_shared<std::vector<uint8_t>>();
  cta.engines.issue(queue, [=] {
    read(*data);
    --group->reading;
    ++c->epoch;
  });
  cta.engines.issue(queue, [=] {
    write(*data);
    --group->open;
    ++c->epoch;
  });
}

/// A shared address operand: base register and a non-negative offset.
bool takeShared(Decoder &d, const Operand &o, uint32_t &base, uint32_t &offset,
                unsigned wideBit);

/// cp.async.bulk and cp.reduce.async.bulk without '.tensor', after 'bulk'.
bool decodeLinear(Decoder &d, bool reduce);

} // namespace ptxsim

#endif // PTXSIM_LIB_BULKCOPY_H
