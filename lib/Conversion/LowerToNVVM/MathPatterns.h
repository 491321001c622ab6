// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The math patterns that have a file of their own.

#ifndef FA4_LIB_CONVERSION_LOWERTONVVM_MATHPATTERNS_H
#define FA4_LIB_CONVERSION_LOWERTONVVM_MATHPATTERNS_H

#include "Registers.h"

namespace mlir::fa4 {

void populateMaskPattern(const TypeConverter &converter,
                         const KernelLowering &kernel,
                         RewritePatternSet &patterns);
void populateRowMaxPattern(const TypeConverter &converter,
                           const KernelLowering &kernel,
                           RewritePatternSet &patterns);
void populateExp2Pattern(const TypeConverter &converter,
                         const KernelLowering &kernel,
                         RewritePatternSet &patterns);

} // namespace mlir::fa4

#endif // FA4_LIB_CONVERSION_LOWERTONVVM_MATHPATTERNS_H
