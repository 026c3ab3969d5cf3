//===- PlanTypes.td - Types of the plan dialect -----------------------*- tablegen -*-===//

#ifndef PLIM_PLAN_TYPES_TD
#define PLIM_PLAN_TYPES_TD

include "dialects/Plan/PlanAttrs.td"
include "mlir/IR/AttrTypeBase.td"

class Plan_Type<string name, string typeMnemonic> : TypeDef<Plan_Dialect, name> { let mnemonic = typeMnemonic; }

def Plan_Buffer : Plan_Type<"Buffer", "buffer"> {
  let summary = "A range of bytes";
  let description = "`!plan.buffer<ram, 4096>`, or `!plan.buffer<4096>` where the tier is not decided yet.";
  let parameters = (ins "int64_t":$bytes, "::std::optional<::plim::plan::Tier>":$tier);
  let builders = [TypeBuilder<(ins "int64_t":$bytes), [{ return $_get($_ctxt, bytes, std::nullopt); }]>,
                  TypeBuilder<(ins "int64_t":$bytes, "::plim::plan::Tier":$tier), [{
                    return $_get($_ctxt, bytes, std::optional<Tier>(tier));
                  }]>];
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Plan_Token : Plan_Type<"Token", "token"> {
  let summary = "A step in flight on a queue";
}

#endif
