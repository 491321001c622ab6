// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where rings and barriers live: offsets in shared memory, columns of tensor
// memory, ids of named barriers.

#include "fa4/Transforms/Passes.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::fa4 {
#define GEN_PASS_DEF_ALLOCATESTORAGE
#include "fa4/Transforms/Passes.h.inc"
} // namespace mlir::fa4

using namespace mlir;
using namespace mlir::fa4;

/// Sizes that a type can spell may add up past 64 bits; they stop here, far
/// beyond any memory.
static constexpr int64_t enormous = int64_t(1) << 62;

static int64_t addSizes(int64_t a, int64_t b) {
  return std::min(std::min(a, enormous) + std::min(b, enormous), enormous);
}

namespace {
/// Something that takes a contiguous piece of one space.
struct Piece {
  Operation *op;
  std::string name;
  int64_t size;
  int64_t alignment;
  /// Where it lies; absent until it is placed.
  std::optional<int64_t> at;

  int64_t getEnd() const { return addSizes(*at, size); }
};

/// A space to share out: shared memory, tensor memory, or named-barrier ids.
class Space {
public:
  /// `unit` counts what the space is made of, `first` is the lowest place and
  /// `capacity` the number of units behind it.
  Space(KernelOp kernel, StringRef unit, StringRef title, int64_t first,
        int64_t capacity)
      : kernel(kernel), unit(unit), title(title), first(first),
        capacity(capacity) {}

  void add(Operation *op, const Twine &name, int64_t size, int64_t alignment,
           std::optional<int64_t> at) {
    pieces.push_back({op, name.str(), size, alignment, at});
  }

  /// Units in use, counted from `first`, once everything is placed.
  int64_t getUsed() const {
    int64_t end = first;
    for (const Piece &piece : pieces)
      end = std::max(end, piece.getEnd());
    return end - first;
  }

  /// Places what has no place yet, in order of addition, around what has one.
  LogicalResult place();

  /// Writes the places as attribute `at`.
  void record() {
    Builder builder(kernel.getContext());
    for (Piece &piece : pieces)
      piece.op->setAttr("at", builder.getI64IntegerAttr(*piece.at));
  }

private:
  LogicalResult checkPinned() const;
  LogicalResult refuse(int64_t used);

  KernelOp kernel;
  StringRef unit, title;
  int64_t first, capacity;
  SmallVector<Piece> pieces;
};
} // namespace

/// Two pieces that were given places must not share any of them.
LogicalResult Space::checkPinned() const {
  SmallVector<const Piece *> pinned;
  for (const Piece &piece : pieces)
    if (piece.at)
      pinned.push_back(&piece);
  // Pieces lie in one array: their addresses break ties in order of addition.
  llvm::sort(pinned, [](const Piece *a, const Piece *b) {
    return std::tie(*a->at, a) < std::tie(*b->at, b);
  });
  for (size_t i = 1; i < pinned.size(); ++i) {
    const Piece &before = *pinned[i - 1], &piece = *pinned[i];
    if (before.getEnd() <= *piece.at)
      continue;
    InFlightDiagnostic diag =
        piece.op->emitOpError()
        << "expected " << unit << " of its own, but " << *piece.at << " to "
        << piece.getEnd() << " of " << piece.name << " overlap " << *before.at
        << " to " << before.getEnd() << " of " << before.name;
    diag.attachNote(before.op->getLoc()) << before.name << " is here";
    return diag;
  }
  return success();
}

LogicalResult Space::refuse(int64_t used) {
  TargetAttr target = kernel.getTarget();
  // Of named barriers all are alike: the first that does not fit is to blame.
  const Piece *outside = llvm::find_if(pieces, [&](const Piece &piece) {
    auto barrier = dyn_cast<BarrierOp>(piece.op);
    return barrier && barrier.getNamed() && piece.getEnd() - first > capacity;
  });
  bool known = outside != pieces.end();
  InFlightDiagnostic diag =
      (known ? outside->op : kernel.getOperation())->emitOpError()
      << "expected at most " << capacity << ' ' << title
      << (known ? " in a kernel" : "") << ", what target '" << target.getChip()
      << "' has, but got " << used << ", " << used - capacity << " too many";
  SmallVector<const Piece *> largest;
  for (const Piece &piece : pieces)
    largest.push_back(&piece);
  llvm::sort(largest, [](const Piece *a, const Piece *b) {
    return std::tie(b->size, a) < std::tie(a->size, b);
  });
  constexpr size_t shown = 3;
  for (const Piece *piece : ArrayRef(largest).take_front(shown))
    diag.attachNote(piece->op->getLoc())
        << piece->name << " takes " << piece->size << ' ' << unit;
  return diag;
}

LogicalResult Space::place() {
  if (failed(checkPinned()))
    return failure();
  // Taken intervals, by their beginning.
  SmallVector<std::pair<int64_t, int64_t>> taken;
  auto take = [&](const Piece &piece) {
    std::pair<int64_t, int64_t> interval(*piece.at, piece.getEnd());
    taken.insert(llvm::upper_bound(taken, interval), interval);
  };
  for (const Piece &piece : pieces)
    if (piece.at)
      take(piece);
  for (Piece &piece : pieces) {
    if (piece.at)
      continue;
    int64_t at = llvm::alignTo(first, piece.alignment);
    for (auto [begin, end] : taken) {
      if (addSizes(at, piece.size) <= begin)
        break;
      at = std::max<int64_t>(at, llvm::alignTo(end, piece.alignment));
    }
    piece.at = at;
    take(piece);
  }
  int64_t used = getUsed();
  return used <= capacity ? success() : refuse(used);
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

/// What an op is called in a diagnostic.
static std::string quote(StringRef kind, StringRef name) {
  return (kind + " \"" + name + "\"").str();
}

static int64_t getRingSize(RingType ring, int64_t tile) {
  return std::min(ring.getSlots() * tile, enormous);
}

/// The only `fa4.tmem_acquire` of a kernel, or null; fails on two.
static FailureOr<TmemAcquireOp> findAcquire(KernelOp kernel) {
  TmemAcquireOp acquire;
  for (auto op : kernel.getBody().getOps<TmemAcquireOp>()) {
    if (acquire) {
      InFlightDiagnostic diag =
          op.emitOpError("expected to acquire tensor memory once in a kernel");
      diag.attachNote(acquire.getLoc()) << "it is acquired here";
      return diag;
    }
    acquire = op;
  }
  return acquire;
}

static LogicalResult placeTensorMemory(KernelOp kernel, TmemAcquireOp acquire) {
  TargetAttr target = kernel.getTarget();
  Space space(kernel, "columns", "columns of tensor memory", 0,
              target.getTmemColumns());
  for (auto alloc : kernel.getBody().getOps<AllocOp>()) {
    RingType ring = alloc.getRing().getType();
    if (ring.getSpace() != MemorySpace::TMEM)
      continue;
    if (target.getTmemColumns() == 0)
      return alloc.emitOpError()
             << "expected a ring in 'smem', since target '" << target.getChip()
             << "' has no tensor memory";
    if (!acquire) {
      InFlightDiagnostic diag =
          kernel.emitOpError()
          << "expected a 'fa4.tmem_acquire', since ring \"" << alloc.getName()
          << "\" lives in tensor memory";
      diag.attachNote(alloc.getLoc()) << "the ring is here";
      return diag;
    }
    space.add(alloc, quote("ring", alloc.getName()),
              getRingSize(ring, ring.getTileTmemColumns()), 1, alloc.getAt());
  }
  if (failed(space.place()))
    return failure();
  space.record();
  if (!acquire)
    return success();
  if (target.getTmemColumns() == 0)
    return acquire.emitOpError()
           << "expected no tensor memory to be acquired, since target '"
           << target.getChip() << "' has none";

  int64_t used = space.getUsed();
  int64_t columns = std::max<int64_t>(32, llvm::PowerOf2Ceil(used));
  if (std::optional<int64_t> asked = acquire.getColumns()) {
    if (*asked < used)
      return acquire.emitOpError()
             << "expected at least " << used
             << " columns, which the rings take, but got " << *asked;
    columns = *asked;
  }
  if (columns > target.getTmemColumns())
    return acquire.emitOpError()
           << "expected at most " << target.getTmemColumns()
           << " columns of tensor memory, what target '" << target.getChip()
           << "' has, but got " << columns
           << ", the power of two that holds the " << used << " in use";
  acquire.setColumns(columns);
  return success();
}

static LogicalResult placeSharedMemory(KernelOp kernel, TmemAcquireOp acquire) {
  constexpr int64_t tileAlignment = 1024, mailboxAlignment = 16,
                    barrierBytes = 8, addressBytes = 16;
  Space space(kernel, "bytes", "bytes of shared memory", 0,
              kernel.getTarget().getSmemBytes());
  auto addRings = [&](size_t rank, int64_t alignment) -> LogicalResult {
    for (auto alloc : kernel.getBody().getOps<AllocOp>()) {
      RingType ring = alloc.getRing().getType();
      if (ring.getSpace() != MemorySpace::SMEM ||
          ring.getShape().size() != rank)
        continue;
      // The swizzle pattern of each tile begins with the tile.
      if (ring.getSlots() > 1 && ring.getTileBytes() % alignment != 0)
        return alloc.emitOpError()
               << "expected tiles of a multiple of " << alignment
               << " bytes, so that each slot is aligned, but got "
               << ring.getTileBytes();
      space.add(alloc, quote("ring", alloc.getName()),
                getRingSize(ring, ring.getTileBytes()), alignment,
                alloc.getAt());
    }
    return success();
  };
  if (failed(addRings(2, tileAlignment)) ||
      failed(addRings(1, mailboxAlignment)))
    return failure();
  for (auto barrier : kernel.getBody().getOps<BarrierOp>())
    if (!barrier.getNamed())
      space.add(barrier, quote("barrier", barrier.getName()),
                barrier.getSlots() * barrierBytes, barrierBytes,
                barrier.getAt());
  if (acquire)
    space.add(acquire, "the address of the tensor memory", addressBytes,
              addressBytes, acquire.getAt());
  if (failed(space.place()))
    return failure();
  space.record();
  kernel.setSmemBytes(space.getUsed());
  return success();
}

static LogicalResult placeNamedBarriers(KernelOp kernel) {
  constexpr int64_t firstId = 1, ids = 15;
  Space space(kernel, "ids", "named-barrier ids", firstId, ids);
  for (auto barrier : kernel.getBody().getOps<BarrierOp>())
    if (barrier.getNamed())
      space.add(barrier, quote("barrier", barrier.getName()),
                barrier.getNumBarriers(), 1, barrier.getAt());
  if (failed(space.place()))
    return failure();
  space.record();
  return success();
}

namespace {
struct AllocateStorage final : fa4::impl::AllocateStorageBase<AllocateStorage> {
  void runOnOperation() override {
    KernelOp kernel = getOperation();
    FailureOr<TmemAcquireOp> acquire = findAcquire(kernel);
    if (failed(acquire) || failed(placeTensorMemory(kernel, *acquire)) ||
        failed(placeSharedMemory(kernel, *acquire)) ||
        failed(placeNamedBarriers(kernel)))
      signalPassFailure();
  }
};
} // namespace
