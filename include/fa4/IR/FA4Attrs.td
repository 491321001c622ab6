// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FA4_IR_ATTRS_TD
#define FA4_IR_ATTRS_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/CommonAttrConstraints.td"
include "fa4/IR/FA4Dialect.td"
include "fa4/IR/FA4Enums.td"

class FA4_Attr<string name, string attrMnemonic>
    : AttrDef<FA4_Dialect, name> {
  let mnemonic = attrMnemonic;
}

def FA4_TargetAttr : FA4_Attr<"Target", "target"> {
  let summary = "a machine, as data";
  let description = [{
    What schedules and lowerings need to know of a GPU. A known chip fills in
    everything; each number can be overridden, for instance to plan for a part
    with fewer SMs.

    ```mlir
    #fa4.target<sm_100a>
    #fa4.target<sm_100a, sms = 132>
    ```

    | key | unit | meaning |
    |---|---|---|
    | `sms` | count | streaming multiprocessors |
    | `l2` | bytes | level-2 cache |
    | `smem` | bytes | shared memory that one block may use |
    | `tmem` | columns of 128 x 32 bits | tensor memory |
    | `registers` | 32-bit registers | register file of one SM |
    | `mma` | - | matrix unit: `tcgen05` or `wgmma` |

    `target_c1`: a chip that is not known is refused with the list of those that are.
  }];
  let parameters = (ins StringRefParameter<"chip name, as ptxas takes it">:$chip,
                        "int64_t":$sms, "int64_t":$l2Bytes,
                        "int64_t":$smemBytes, "int64_t":$tmemColumns,
                        "int64_t":$registers, "MMAFlavour":$mma);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The target of a known chip, or null.
    static TargetAttr getForChip(MLIRContext *context, StringRef chip);
    /// Comma-separated names of the known chips.
    static std::string getKnownChips();
  }];
}

def FA4_ArrivalAttr : FA4_Attr<"Arrival", "arrival"> {
  let summary = "who arrives on a barrier, by what engine, how often a phase";
  let description = [{
    `#fa4.arrival<@softmax threads 128>`: 128 threads of that role arrive.
    `#fa4.arrival<@mma commit>`: one arrival when the tensor core has finished
    everything that the role issued before. `#fa4.arrival<@load bytes 32768>`:
    the copies that the role issues complete that many bytes.
  }];
  let parameters = (ins "FlatSymbolRefAttr":$role, "Engine":$engine,
                        "int64_t":$count);
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    /// The form without angle brackets, as `fa4.barrier` shows it.
    static FailureOr<ArrivalAttr> parseBare(AsmParser &parser);
    void printBare(AsmPrinter &printer) const;
  }];
}

def FA4_LaunchDescriptorAttr : FA4_Attr<"LaunchDescriptor", "launch_descriptor"> {
  let summary = "how a lowered kernel is launched";
  let description = [{
    Stands on a kernel function as `fa4.launch`: its parameters in order, tensor
    maps, grid, block and shared memory as expressions over the sizes of a
    problem, in the JSON of docs/abi.md.

    `launch_descriptor_c1`: text that is a valid descriptor of a known version.
  }];
  let parameters = (ins StringRefParameter<"JSON text">:$json);
  let assemblyFormat = "`<` $json `>`";
  let genVerifyDecl = 1;
}

def FA4_ArrivalsAttr : TypedArrayAttrBase<FA4_ArrivalAttr, "arrivals of a barrier phase">;

#endif // FA4_IR_ATTRS_TD
