// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How fa4.attention becomes an op on memrefs in One-Shot Bufferize.

#ifndef FA4_IR_BUFFERIZABLEOPINTERFACEIMPL_H
#define FA4_IR_BUFFERIZABLEOPINTERFACEIMPL_H

namespace mlir {
class DialectRegistry;

namespace fa4 {
/// Attach the bufferization model of fa4.attention to the dialect.
void registerBufferizableOpInterfaceExternalModels(DialectRegistry &registry);
} // namespace fa4
} // namespace mlir

#endif // FA4_IR_BUFFERIZABLEOPINTERFACEIMPL_H
