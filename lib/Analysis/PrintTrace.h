// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What happens in one run, and which waits order its accesses.

#ifndef FA4_LIB_ANALYSIS_PRINTTRACE_H
#define FA4_LIB_ANALYSIS_PRINTTRACE_H

#include "Machine.h"

namespace mlir::fa4::protocol {

/// Part of a ring's slot that an event touches.
struct Touched {
  const Access *access;
  int32_t slot;
  bool reads, writes;
};

struct TraceEvent {
  enum Kind : uint8_t { Accesses, Arrives, Waits } kind;
  Occurrence by;
  int32_t slot = -1, phase = 0; ///< Of a barrier.
  SmallVector<Touched, 3> touched;
};

/// Two accesses of different agents to the same columns, one a write, and the
/// barriers by whose waits the second's agent learned of the first.
struct OrderedPair {
  int32_t before, after; ///< Events.
  Touched first, second;
  SmallVector<int32_t> barriers;
};

/// Records a run.
class Trace final : public Observer {
public:
  explicit Trace(const Program &program)
      : program(program), atoms(program.atoms) {}

  std::vector<TraceEvent> events;
  std::vector<OrderedPair> pairs;

  void access(const Access &access, int32_t slot, const Record &record,
              const int32_t *knowledge, bool async) override;
  void arrive(const Occurrence &here, int32_t slot, int32_t phase,
              const int32_t *knowledge) override;
  void wait(const Occurrence &here, int32_t slot, int32_t phase,
            const int32_t *before, const int32_t *now) override;

private:
  struct Earlier {
    int32_t event;
    Touched touched;
    Mark done, proxy;
  };
  struct Synchronisation {
    int32_t agent, slot, phase;
    std::vector<int32_t> clock;
  };
  void addPair(const Earlier &earlier, const Touched &touched, bool async);
  SmallVector<int32_t> getBarriers(Mark mark, int32_t from, int32_t to) const;

  const Program &program;
  struct Columns {
    std::optional<Earlier> write;
    std::vector<Earlier> reads;
  };
  std::vector<Columns> atoms;
  std::vector<Synchronisation> arrivals, waits;
  Mark issued;
};

} // namespace mlir::fa4::protocol

#endif // FA4_LIB_ANALYSIS_PRINTTRACE_H
