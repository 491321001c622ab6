// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ops that refuse what they do not know. In the generic form MLIR reads the
// properties it knows out of `<{...}>` and silently drops the rest, so a
// misspelt or unsupported attribute would change nothing and go unnoticed.

#ifndef FA4_LIB_IR_STRICTOP_H
#define FA4_LIB_IR_STRICTOP_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/OperationSupport.h"

namespace mlir::fa4 {

/// Registered in place of `ConcreteOp`, whose identity it shares.
template <typename ConcreteOp> struct StrictOp : ConcreteOp {
  using ConcreteOp::ConcreteOp;

  template <typename Properties>
  static LogicalResult
  setPropertiesFromAttr(Properties &properties, Attribute attr,
                        function_ref<InFlightDiagnostic()> emitError) {
    if (failed(ConcreteOp::setPropertiesFromAttr(properties, attr, emitError)))
      return failure();
    auto given = dyn_cast_or_null<DictionaryAttr>(attr);
    if (!given)
      return success();
    auto known = dyn_cast_or_null<DictionaryAttr>(
        ConcreteOp::getPropertiesAsAttr(attr.getContext(), properties));
    for (NamedAttribute entry : given) {
      if (known && known.contains(entry.getName()))
        continue;
      if (emitError)
        emitError() << "attribute '" << entry.getName().strref()
                    << "' is not supported";
      return failure();
    }
    return success();
  }
};

} // namespace mlir::fa4

namespace mlir::detail {
template <typename ConcreteOp> class TypeIDResolver<fa4::StrictOp<ConcreteOp>> {
public:
  static TypeID resolveTypeID() { return TypeID::get<ConcreteOp>(); }
};
} // namespace mlir::detail

#endif // FA4_LIB_IR_STRICTOP_H
