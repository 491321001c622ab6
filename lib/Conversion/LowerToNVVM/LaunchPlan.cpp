// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "LaunchPlan.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mlir::fa4;
using ::fa4::Expr;

namespace {

constexpr StringLiteral tensorNames[] = {"q", "k", "v", "o", "lse"};
constexpr StringLiteral dimNames[] = {"batch", "sequence", "head", "column"};

class LaunchPlanner {
public:
  LaunchPlanner(KernelOp kernel, StringRef ptxVersion) : kernel(kernel) {
    plan.descriptor.ptx = ptxVersion.str();
  }

  FailureOr<LaunchPlan> run();

private:
  ::fa4::LaunchDescriptor &descriptor() { return plan.descriptor; }
  ::fa4::ElementType getElementType(unsigned tensor);
  Expr addSymbol(StringRef name, unsigned tensor,
                 ::fa4::LaunchSymbol::Source source, int64_t index);
  /// The extent of a dimension: static, or a symbol read off that operand.
  Expr getExtent(StringRef name, ArrayRef<std::pair<unsigned, int64_t>> places);
  void addTensor(unsigned index, ArrayRef<Expr> shape);
  Expr derive(StringRef name, const Expr &value);
  LogicalResult check(const Expr &require, const Twine &message);
  LogicalResult checkProblem();
  LogicalResult checkStrides(unsigned tensor);
  void addQueryMap(unsigned tensor);
  void addKvMap(unsigned tensor);
  PlannedSize addSize(StringRef name, const Expr &value);

  /// Byte stride of a map's dimension; where its extent is 1 any value does,
  /// but TMA demands a multiple of 16.
  Expr getMapStride(const Expr &extent, const Expr &elements) {
    return ::fa4::select(extent > 1, elements * 2, 16).fold();
  }

  KernelOp kernel;
  LaunchPlan plan;
  Expr batch, seqQ, seqKv, queryHeads, kvHeads;
};

::fa4::ElementType LaunchPlanner::getElementType(unsigned tensor) {
  Type type = cast<MemRefType>(kernel.getBody().getArgument(tensor).getType())
                  .getElementType();
  return type.isF16()    ? ::fa4::ElementType::F16
         : type.isBF16() ? ::fa4::ElementType::BF16
                         : ::fa4::ElementType::F32;
}

Expr LaunchPlanner::addSymbol(StringRef name, unsigned tensor,
                              ::fa4::LaunchSymbol::Source source,
                              int64_t index) {
  descriptor().symbols.push_back(
      {name.str(), tensorNames[tensor].str(), source, index});
  return Expr::symbol(name);
}

Expr LaunchPlanner::getExtent(StringRef name,
                              ArrayRef<std::pair<unsigned, int64_t>> places) {
  for (auto [tensor, dim] : places) {
    auto type =
        cast<MemRefType>(kernel.getBody().getArgument(tensor).getType());
    if (!type.isDynamicDim(dim))
      return Expr(type.getDimSize(dim));
  }
  return addSymbol(name, places.front().first, ::fa4::LaunchSymbol::Source::Dim,
                   places.front().second);
}

void LaunchPlanner::addTensor(unsigned index, ArrayRef<Expr> shape) {
  auto type = cast<MemRefType>(kernel.getBody().getArgument(index).getType());
  ::fa4::LaunchTensor tensor;
  tensor.name = tensorNames[index].str();
  tensor.elementType = getElementType(index);
  tensor.shape.assign(shape.begin(), shape.end());
  if (index == 4) {
    // No padding: [B, Hq, Sq].
    tensor.strides = {(queryHeads * seqQ).fold(), seqQ, Expr(1)};
  } else {
    SmallVector<int64_t> strides;
    int64_t offset;
    // The kernel's verifier made sure that the layout is strided.
    (void)type.getStridesAndOffset(strides, offset);
    for (auto [dim, stride] : llvm::enumerate(strides))
      tensor.strides.push_back(
          ShapedType::isDynamic(stride)
              ? addSymbol(
                    llvm::formatv("{0}.stride{1}", tensor.name, dim).str(),
                    index, ::fa4::LaunchSymbol::Source::Stride,
                    static_cast<int64_t>(dim))
              : Expr(stride));
  }
  descriptor().tensors.push_back(std::move(tensor));
}

Expr LaunchPlanner::derive(StringRef name, const Expr &value) {
  Expr folded = value.fold();
  if (folded.getConstant())
    return folded;
  descriptor().derived.push_back({name.str(), folded});
  return Expr::symbol(name);
}

/// Keeps a check for the launch, or decides it here where everything is static.
LogicalResult LaunchPlanner::check(const Expr &require, const Twine &message) {
  Expr folded = require.fold();
  std::optional<int64_t> constant = folded.getConstant();
  if (!constant) {
    descriptor().checks.push_back({folded, message.str()});
    return success();
  }
  if (*constant)
    return success();
  return kernel.emitOpError() << "cannot be launched: " << message;
}

LogicalResult LaunchPlanner::checkStrides(unsigned tensor) {
  const ::fa4::LaunchTensor &entry = descriptor().tensors[tensor];
  for (int64_t dim = 0; dim < 3; ++dim) {
    const Expr &extent = entry.shape[dim], &stride = entry.strides[dim];
    // An empty K or V has no address to step from; its map is made over Q.
    std::string bytes = (stride * 2).fold().str();
    bool dynamic = !(stride.getConstant() && extent.getConstant());
    std::string shown = dynamic ? "{" + bytes + "}" : bytes;
    if (failed(check(
            extent <= 1 || (stride * 2) % 16 == 0,
            llvm::formatv(
                "expected the {0} stride of '{1}' (dimension {2}) to be a "
                "multiple of 16 bytes as TMA demands, but got {3} bytes",
                dimNames[dim], tensorNames[tensor], dim, shown))) ||
        failed(check(
            extent <= 1 || (stride >= (tensor == 3 ? 1 : 0) &&
                            stride < (int64_t(1) << 39)),
            llvm::formatv(
                "expected the {0} stride of '{1}' (dimension {2}) from {4} to "
                "2^40 bytes as TMA demands, but got {3} bytes",
                dimNames[dim], tensorNames[tensor], dim, shown,
                tensor == 3 ? 2 : 0))))
      return failure();
  }
  return success();
}

LogicalResult LaunchPlanner::checkProblem() {
  auto shown = [](const Expr &expr) {
    return expr.getConstant() ? expr.str() : "{" + expr.str() + "}";
  };
  if (failed(
          check(queryHeads == 0 || (kvHeads > 0 && queryHeads % kvHeads == 0),
                "expected the number of query heads to be a multiple of the "
                "number of K/V "
                "heads, but got " +
                    shown(queryHeads) + " and " + shown(kvHeads))))
    return failure();
  // 32-bit positions: a row's number and a key's must not wrap when a tile is
  // added.
  constexpr int64_t limit = (int64_t(1) << 31) - 4096;
  Expr rows = seqQ * kernel.getPack();
  if (failed(check(
          rows <= limit,
          llvm::formatv(
              "expected at most {0} query rows in a tile head, but got {1}",
              limit, shown(rows.fold())))) ||
      failed(check(seqKv <= limit,
                   llvm::formatv("expected at most {0} keys, but got {1}",
                                 limit, shown(seqKv)))))
    return failure();
  for (unsigned tensor = 0; tensor < 4; ++tensor)
    if (failed(checkStrides(tensor)))
      return failure();
  return success();
}

void LaunchPlanner::addQueryMap(unsigned tensor) {
  const ::fa4::LaunchTensor &entry = descriptor().tensors[tensor];
  int64_t pack = kernel.getPack();
  Expr tileHeads = (queryHeads / pack).fold();
  ::fa4::LaunchParameter parameter;
  parameter.kind = ::fa4::LaunchParameter::Kind::TensorMap;
  parameter.name = entry.name + "_map";
  ::fa4::TensorMapParameter &map = parameter.tensorMap;
  map.base = Expr::symbol(entry.name);
  map.elementType = entry.elementType;
  map.dims = {entry.shape[3], Expr(pack), seqQ, tileHeads, batch};
  map.strides = {getMapStride(Expr(pack), entry.strides[2]),
                 getMapStride(seqQ, entry.strides[1]),
                 getMapStride(tileHeads, (entry.strides[2] * pack).fold()),
                 getMapStride(batch, entry.strides[0])};
  map.box = {Expr(64), Expr(pack), Expr(kernel.getTileRows() / pack), Expr(1),
             Expr(1)};
  map.swizzle = ::fa4::Swizzle::B128;
  map.l2Promotion = ::fa4::L2Promotion::B256;
  descriptor().parameters.push_back(std::move(parameter));
}

void LaunchPlanner::addKvMap(unsigned tensor) {
  const ::fa4::LaunchTensor &entry = descriptor().tensors[tensor];
  ::fa4::LaunchParameter parameter;
  parameter.kind = ::fa4::LaunchParameter::Kind::TensorMap;
  parameter.name = entry.name + "_map";
  ::fa4::TensorMapParameter &map = parameter.tensorMap;
  // Without keys there is nothing to point at, and TMA knows no empty extent:
  // a map over one row of Q, whose keys the kernel masks.
  map.base =
      ::fa4::select(seqKv > 0, Expr::symbol(entry.name), Expr::symbol("q"))
          .fold();
  map.elementType = entry.elementType;
  map.dims = {entry.shape[3], ::fa4::max(seqKv, 1).fold(), kvHeads, batch};
  Expr some = ::fa4::min(seqKv, 1).fold();
  map.strides = {getMapStride(seqKv, entry.strides[1]),
                 getMapStride((kvHeads * some).fold(), entry.strides[2]),
                 getMapStride((batch * some).fold(), entry.strides[0])};
  // The map of a missing K has one row for every head and batch.
  map.dims[2] = ::fa4::select(seqKv > 0, kvHeads, Expr(1)).fold();
  map.dims[3] = ::fa4::select(seqKv > 0, batch, Expr(1)).fold();
  map.box = {Expr(64), Expr(kernel.getTileKeys()), Expr(1), Expr(1)};
  map.swizzle = ::fa4::Swizzle::B128;
  map.l2Promotion = ::fa4::L2Promotion::B256;
  descriptor().parameters.push_back(std::move(parameter));
}

PlannedSize LaunchPlanner::addSize(StringRef name, const Expr &value) {
  Expr folded = value.fold();
  if (std::optional<int64_t> constant = folded.getConstant())
    return {constant, 0};
  ::fa4::LaunchParameter parameter;
  parameter.kind = ::fa4::LaunchParameter::Kind::I32;
  parameter.name = name.str();
  parameter.value = folded;
  descriptor().parameters.push_back(std::move(parameter));
  return {std::nullopt,
          static_cast<unsigned>(descriptor().parameters.size() - 1)};
}

FailureOr<LaunchPlan> LaunchPlanner::run() {
  descriptor().kernel = kernel.getSymName().str();
  descriptor().chip = kernel.getTarget().getChip().str();
  descriptor().versions.fa4 = FA4_VERSION_STRING;
  descriptor().versions.llvm = LLVM_VERSION_STRING;

  batch = getExtent("B", {{0, 0}, {1, 0}, {2, 0}, {3, 0}});
  seqQ = getExtent("Sq", {{0, 1}, {3, 1}});
  seqKv = getExtent("Skv", {{1, 1}, {2, 1}});
  queryHeads = getExtent("Hq", {{0, 2}, {3, 2}});
  kvHeads = getExtent("Hkv", {{1, 2}, {2, 2}});
  Expr qColumns(kernel.getHeadDim()), vColumns(kernel.getValueDim());
  addTensor(0, {batch, seqQ, queryHeads, qColumns});
  addTensor(1, {batch, seqKv, kvHeads, qColumns});
  addTensor(2, {batch, seqKv, kvHeads, vColumns});
  addTensor(3, {batch, seqQ, queryHeads, vColumns});
  if (kernel.getLse())
    addTensor(4, {batch, queryHeads, seqQ});
  if (failed(checkProblem()))
    return failure();
  descriptor().skipIf = (batch == 0 || seqQ == 0 || queryHeads == 0).fold();

  int64_t pack = kernel.getPack();
  Expr tileHeads = derive("tile_heads", queryHeads / pack);
  Expr tileHeadsPerKv =
      derive("tile_heads_per_kv", tileHeads / ::fa4::max(kvHeads, 1));
  Expr mBlocks =
      derive("m_blocks", ::fa4::ceilDiv(seqQ * pack, kernel.getTaskRows()));
  Expr tasks = derive("tasks", mBlocks * tileHeads * batch);
  // Tile heads whose K and V (f16 or bf16) lie in the L2 together, in sections
  // of about one size: a small last one would begin with long tasks when most
  // blocks are done.
  Expr kvBytes =
      ::fa4::max(seqKv, 1) * (2 * (kernel.getHeadDim() + kernel.getValueDim()));
  Expr fit = ::fa4::max(Expr(kernel.getTarget().getL2Bytes()) / kvBytes, 1);
  Expr groups = ::fa4::max(kvHeads, 1) * batch;
  Expr sections = ::fa4::max(::fa4::ceilDiv(groups, fit), 1);
  Expr section =
      derive("heads_per_section",
             ::fa4::max(::fa4::ceilDiv(groups, sections) * tileHeadsPerKv, 1));
  bool linear = kernel.getScheduler() == Scheduler::LinearPersistent;
  Expr blocks =
      derive("blocks",
             linear ? ::fa4::min(tasks, kernel.getTarget().getSms()) : tasks);
  constexpr int64_t maxTasks = int64_t(1) << 30;
  std::string shown = tasks.getConstant() ? tasks.str() : "{tasks}";
  if (failed(check(
          tasks <= maxTasks,
          llvm::formatv(
              "expected at most {0} tasks (M blocks x tile heads x batches), "
              "but got {1}",
              maxTasks, shown))))
    return failure();

  addQueryMap(0);
  addKvMap(1);
  addKvMap(2);
  addQueryMap(3);
  if (kernel.getLse()) {
    ::fa4::LaunchParameter parameter;
    parameter.kind = ::fa4::LaunchParameter::Kind::Pointer;
    parameter.name = "lse";
    parameter.value = Expr::symbol("lse");
    descriptor().parameters.push_back(std::move(parameter));
  }
  plan.tensorParameters = descriptor().parameters.size();
  plan.seqQ = addSize("seq_q", seqQ);
  plan.seqKv = addSize("seq_kv", seqKv);
  plan.queryHeads = addSize("query_heads", queryHeads);
  plan.tileHeads = addSize("tile_heads", tileHeads);
  plan.tileHeadsPerKv = addSize("tile_heads_per_kv", tileHeadsPerKv);
  plan.mBlocks = addSize("m_blocks", mBlocks);
  plan.tasks = addSize("tasks", tasks);
  if (!linear)
    plan.headsPerSection = addSize("heads_per_section", section);
  plan.blocks = addSize("blocks", blocks);

  descriptor().grid = {::fa4::max(blocks, 1).fold(), Expr(1), Expr(1)};
  descriptor().block = {kernel.getWarps() * 32, 1, 1};
  descriptor().dynamicSharedBytes = kernel.getSmemBytes().value_or(0);
  for (RoleOp role : kernel.getBody().getOps<RoleOp>())
    descriptor().roles.push_back({role.getSymName().str(),
                                  role.getEndWarp() - role.getFirstWarp(),
                                  role.getRegisters()});
  if (llvm::Error error = descriptor().verify())
    return kernel.emitOpError()
           << "has no launch descriptor: " << llvm::toString(std::move(error));
  return std::move(plan);
}

} // namespace

FailureOr<LaunchPlan> mlir::fa4::planLaunch(KernelOp kernel,
                                            StringRef ptxVersion) {
  return LaunchPlanner(kernel, ptxVersion).run();
}
