//===- FuseElementwise.cpp - --graph-fuse-elementwise -----------------------------------------------------------===//
//
// Groups grow upwards from their one result. A group has an iteration space (the shape of its elementwise ops) and at
// most one set of reduced axes, a contiguous range of the space. An op joins the group of its users if they are all in
// one group and
//   - its result has the shape of the space, or
//   - it reduces a tensor of the space over the group's axes and keeps them, or
//   - its result has one element a row, and it comes from such a reduction by elementwise ops, or
//   - it repeats elements (a nearest resize up) into the space of a group of elementwise ops only, whose loops then
//   read
//     each element of its operand several times; all such ops of a group repeat alike.
// As every use lies in the group, no value is computed twice, and placing the group at its result breaks no order.
//
// Open dimensions may lead a space: all ops of the group then look into its rows only (OpenRows.h). Open dimensions
// that meet in an op of a group are equal in every run, or the run ends.
//
//===----------------------------------------------------------------------------------------------------===//

#include "compiler/Transforms/Graph/Matchers.h"
#include "compiler/Transforms/Graph/Passes.h"
#include "dialects/Graph/OpenRows.h"
#include "dialects/Graph/SizeArithmetic.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace plim::graph {
#define GEN_PASS_DEF_GRAPHFUSEELEMENTWISE
#include "compiler/Transforms/Graph/Passes.h.inc"

namespace {

/// A kernel is told of each buffer; more of them than this no longer fit registers as pointers.
constexpr size_t kMaxInputs = 16;

struct Group {
  SmallVector<Operation *> members; // result first, operands later
  SmallVector<int64_t> space, axes;
  std::optional<OpenRows> rows; // where the space has open dimensions
  SmallVector<int64_t> repeats; // of its resizes, by dimension of the space; empty where it has none
};

bool isStatic(Operation *op) {
  return llvm::all_of(op->getOperands(), hasStaticShape) && llvm::all_of(op->getResults(), hasStaticShape) &&
         llvm::none_of(op->getOperands(), [](Value v) { return layoutOf(v.getType()).has_value(); });
}

/// The axes that an op reduces on the way to its result; none for elementwise ops. Nothing where it has no loop form.
std::optional<SmallVector<int64_t>> reducedAxes(Operation *op) {
  auto from = [&](int64_t first) { return llvm::to_vector(llvm::seq<int64_t>(first, rankOf(op->getOperand(0)))); };
  bool isNarrow = llvm::all_of(op->getOperands(), [](Value v) {
    Type element = elementTypeOf(v);
    return isa<FloatType>(element) && element.getIntOrFloatBitWidth() <= 32;
  });
  if (isa<ScalarBodyOpInterface, BroadcastOp>(op))
    return SmallVector<int64_t>();
  if (!isNarrow)
    return std::nullopt;
  if (auto softmax = dyn_cast<SoftmaxOp>(op)) {
    if (softmax.getAxis() == rankOf(softmax.getInput()) - 1)
      return SmallVector<int64_t>{softmax.getAxis()};
    return std::nullopt;
  }
  if (auto norm = dyn_cast<LayerNormOp>(op))
    return from(norm.getAxis());
  if (auto norm = dyn_cast<RmsNormOp>(op))
    return from(norm.getAxis());
  auto reduce = dyn_cast<ReduceOp>(op);
  if (!reduce || reduce.getAxes().empty() ||
      reduce.getAxes().back() - reduce.getAxes().front() + 1 != static_cast<int64_t>(reduce.getAxes().size()))
    return std::nullopt;
  return SmallVector<int64_t>(reduce.getAxes());
}

/// The shape over which an op loops.
ArrayRef<int64_t> spaceOf(Operation *op) { return shapeOf(isa<ReduceOp>(op) ? op->getOperand(0) : op->getResult(0)); }

/// Whether a shape is the space with 1 in place of each reduced axis.
bool isRowShape(ArrayRef<int64_t> shape, ArrayRef<int64_t> space, ArrayRef<int64_t> axes) {
  if (axes.empty() || shape.size() != space.size())
    return false;
  for (auto [i, pair] : llvm::enumerate(llvm::zip(shape, space))) {
    bool isReduced = llvm::is_contained(axes, static_cast<int64_t>(i));
    if (std::get<0>(pair) != (isReduced ? 1 : std::get<1>(pair)))
      return false;
  }
  return true;
}

/// Loops over several reduced axes are one loop: an operand must repeat along all of them or along none.
bool repeatsEvenly(Operation *op, ArrayRef<int64_t> space, ArrayRef<int64_t> axes) {
  if (axes.size() < 2)
    return true;
  return llvm::all_of(op->getOperands(), [&](Value v) {
    ArrayRef<int64_t> shape = shapeOf(v);
    int64_t missing = static_cast<int64_t>(space.size()) - static_cast<int64_t>(shape.size());
    unsigned whole = llvm::count_if(axes, [&](int64_t axis) {
      return space[axis] == 1 || (axis >= missing && shape[axis - missing] == space[axis]);
    });
    unsigned trivial = llvm::count_if(axes, [&](int64_t axis) { return space[axis] == 1; });
    return whole == axes.size() || whole == trivial;
  });
}

class Fuser {
public:
  explicit Fuser(Block &block) : block(block) {}

  void run() {
    for (Operation &op : llvm::reverse(block)) {
      noteSizeArithmetic(&op);
      place(&op);
    }
    for (Group &group : groups)
      if (group.members.size() > 1)
        outline(group);
  }

private:
  /// Ops that compute sizes for others stay as they are: that arithmetic is done on expressions.
  void noteSizeArithmetic(Operation *op) {
    if (op->getNumResults() == 1 && holdsSizes(op->getResult(0).getType()) &&
        llvm::any_of(op->getUses(),
                     [&](OpOperand &use) { return isSizeOperand(use) || sizeArithmetic.contains(use.getOwner()); }))
      sizeArithmetic.insert(op);
  }

  /// Puts an op into the group of its users, or into one of its own.
  void place(Operation *op) {
    if (op->getNumResults() != 1 || isSetupValue(op->getResult(0)) || sizeArithmetic.contains(op))
      return;
    std::optional<OpenRows> rows;
    if (!isStatic(op)) {
      rows = OpenRows::of(op->getResult(0).getType());
      if (!rows || !rows->cover(op))
        return;
    }
    if (auto resize = dyn_cast<ResizeOp>(op))
      return placeResize(resize);
    std::optional<SmallVector<int64_t>> axes = reducedAxes(op);
    if (!axes)
      return;
    if (std::optional<size_t> users = groupOfUsers(op); users && joins(groups[*users], op, *axes)) {
      Group &group = groups[*users];
      group.members.push_back(op);
      if (!axes->empty())
        group.axes = *axes;
      number[op] = *users;
      return;
    }
    number[op] = groups.size();
    groups.push_back({{op}, SmallVector<int64_t>(spaceOf(op)), *axes, rows, {}});
  }

  /// A resize never starts a group: alone, it is a copy that the library makes as fast.
  void placeResize(ResizeOp op) {
    std::optional<SmallVector<int64_t>> repeats = op.getRepeats();
    std::optional<size_t> users = groupOfUsers(op);
    if (!repeats || !users)
      return;
    Group &group = groups[*users];
    bool isElementwise = group.axes.empty() && llvm::all_of(group.members, [](Operation *m) {
                           return isa<ScalarBodyOpInterface, ResizeOp>(m);
                         });
    if (!isElementwise || shapeOf(op.getResult()) != ArrayRef(group.space) || inputsWith(group, op) > kMaxInputs)
      return;
    if (!joinRepeats(group.repeats, *repeats))
      return;
    group.members.push_back(op);
    number[op] = *users;
  }

  std::optional<size_t> groupOfUsers(Operation *op) {
    std::optional<size_t> group;
    for (Operation *user : op->getUsers()) {
      auto it = number.find(user);
      if (it == number.end() || (group && *group != it->second))
        return std::nullopt;
      group = it->second;
    }
    return group;
  }

  bool joins(const Group &group, Operation *op, ArrayRef<int64_t> axes) {
    ArrayRef<int64_t> result = shapeOf(op->getResult(0));
    if (inputsWith(group, op) > kMaxInputs)
      return false;
    if (group.rows ? !group.rows->cover(op) : !isStatic(op))
      return false;
    if (!group.repeats.empty() && !isa<ScalarBodyOpInterface>(op))
      return false;
    if (!axes.empty()) {
      // The second and later reductions of a group are over the same axes; a group whose result is a reduction over
      // axes that are not the last ones has no room for another.
      bool sameAxes = group.axes.empty() || ArrayRef(group.axes) == axes;
      bool isTrailing = axes.back() + 1 == static_cast<int64_t>(group.space.size());
      auto reduce = dyn_cast<ReduceOp>(op);
      bool keeps = !reduce || reduce.getKeepDims();
      return sameAxes && isTrailing && keeps && spaceOf(op) == ArrayRef(group.space) &&
             repeatsEvenly(op, group.space, axes) && llvm::all_of(group.members, [&](Operation *member) {
               return spaceOf(member) != ArrayRef(group.space) || repeatsEvenly(member, group.space, axes);
             });
    }
    if (result == ArrayRef(group.space))
      return repeatsEvenly(op, group.space, group.axes);
    return isa<ScalarBodyOpInterface>(op) && comesFromReduction(group, op);
  }

  /// Whether an op of one element a row reaches, through such ops, a reduction that will join the group.
  bool comesFromReduction(const Group &group, Operation *op) {
    for (Value operand : op->getOperands()) {
      Operation *source = operand.getDefiningOp();
      if (!source || source->getBlock() != &block || (group.rows ? !group.rows->cover(source) : !isStatic(source)))
        continue;
      if (auto reduce = dyn_cast<ReduceOp>(source)) {
        std::optional<SmallVector<int64_t>> axes = reducedAxes(source);
        bool fits = axes && reduce.getKeepDims() && spaceOf(source) == ArrayRef(group.space) &&
                    (group.axes.empty() || group.axes == *axes) &&
                    axes->back() + 1 == static_cast<int64_t>(group.space.size());
        if (fits && isRowShape(shapeOf(op->getResult(0)), group.space, *axes))
          return true;
      }
      if (isa<ScalarBodyOpInterface>(source) && shapeOf(source->getResult(0)) == shapeOf(op->getResult(0)) &&
          source->hasOneUse() && comesFromReduction(group, source))
        return true;
    }
    return false;
  }

  /// Values that the group would read with one more member.
  size_t inputsWith(const Group &group, Operation *op) {
    llvm::SmallSetVector<Value, 16> inputs;
    auto add = [&](Operation *member) {
      for (Value v : member->getOperands())
        if (v != op->getResult(0) && !llvm::is_contained(group.members, v.getDefiningOp()))
          inputs.insert(v);
    };
    llvm::for_each(group.members, add);
    add(op);
    return inputs.size();
  }

  /// Moves the members of a group into the region of a graph.fused op in place of its result.
  void outline(Group &group) {
    Operation *root = group.members.front();
    llvm::SmallSetVector<Value, 16> inputs;
    llvm::SmallSetVector<Operation *, 8> constants;
    SmallVector<Operation *> members(llvm::reverse(group.members));
    // The order of a block is one in which operands come first.
    llvm::sort(members, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
    SmallVector<Location> locations;
    for (Operation *member : members) {
      locations.push_back(member->getLoc());
      for (Value v : member->getOperands()) {
        Operation *source = v.getDefiningOp();
        if (llvm::is_contained(group.members, source))
          continue;
        if (source && isa<ConstantOp, FillOp>(source) && splatOf(v))
          constants.insert(source);
        else
          inputs.insert(v);
      }
    }
    OpBuilder b(root);
    Location loc = b.getFusedLoc(locations);
    auto fused = FusedOp::create(b, loc, root->getResultTypes(), inputs.getArrayRef());
    Block &body = fused.getBody().emplaceBlock();
    IRMapping map;
    for (Value input : inputs)
      map.map(input, body.addArgument(input.getType(), input.getLoc()));
    b.setInsertionPointToStart(&body);
    for (Operation *constant : constants)
      b.clone(*constant, map);
    for (Operation *member : members)
      b.clone(*member, map);
    YieldOp::create(b, loc, map.lookup(root->getResult(0)));
    root->replaceAllUsesWith(fused);
    for (Operation *member : llvm::reverse(members))
      member->erase();
    for (Operation *constant : constants)
      if (constant->use_empty())
        constant->erase();
  }

  Block &block;
  DenseSet<Operation *> sizeArithmetic;
  DenseMap<Operation *, size_t> number;
  std::vector<Group> groups;
};

struct FuseElementwise : impl::GraphFuseElementwiseBase<FuseElementwise> {
  void runOnOperation() override {
    // @setup runs on library kernels.
    if (getOperation().getName() == "setup")
      return;
    SmallVector<Block *> blocks;
    getOperation().walk([&](Block *block) {
      if (!isa<FusedOp>(block->getParentOp()))
        blocks.push_back(block);
    });
    for (Block *block : blocks)
      Fuser(*block).run();
  }
};

} // namespace
} // namespace plim::graph
