//===- CandidatesTest.cpp - Which kernels graph ops get, and what they take at smaller sizes --------------===//

#include "compiler/Lowering/Candidates/Candidates.h"
#include "compiler/Pipelines/Register.h"
#include "kernels/attrs.h"
#include "kernels/conv/conv.h"
#include "kernels/registry.h"

#include "compiler/Lowering/GraphToPlan/GraphToPlan.h"
#include "dialects/Plan/PlanDialect.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>
#include <map>

using namespace mlir;
using namespace plim;

namespace {

/// Ops that no kernel runs, and why.
const std::map<std::string, std::string> kWithoutKernel = {
    {"graph.parameter", "bytes of the weight file"},
    {"graph.constant", "bytes of the weight file"},
    {"graph.yield", "ends a region"},
    {"graph.fused", "gets a generated kernel"},
    {"graph.celu", "gets a generated kernel"},
    {"graph.shape_of", "folds where the shape is known, and is refused elsewhere"},
    {"graph.variable", "the bytes of a state: graph-to-plan places and copies them"},
    {"graph.read", "the bytes of a state: graph-to-plan places and copies them"},
    {"graph.assign", "the bytes of a state: graph-to-plan places and copies them"},
    {"graph.if", "becomes plan.if; a known branch is inlined"},
    {"graph.loop", "becomes plan.loop"},
};

class CandidatesTest : public testing::Test {
protected:
  CandidatesTest() {
    DialectRegistry registry;
    registerAllPlimDialects(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }

  /// Launches by source of @main in stage virtual, library kernels only.
  std::map<std::string, plan::LaunchOp> lower(const std::string &text, bool exactNumerics = false) {
    module = parseSourceString<ModuleOp>(text, &context);
    EXPECT_TRUE(module);
    lowering::GraphToPlanOptions options;
    options.choice.exactNumerics = exactNumerics;
    FailureOr<lowering::GraphToPlanResult> result =
        lowering::graphToPlan(module->lookupSymbol<func::FuncOp>("main"), options);
    EXPECT_TRUE(succeeded(result));
    std::map<std::string, plan::LaunchOp> launches;
    if (failed(result))
      return launches;
    planned = std::move(result->module);
    planned->walk([&](plan::LaunchOp launch) { launches[launch.getSource()->str()] = launch; });
    return launches;
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  OwningOpRef<plan::ModuleOp> planned;
};

TEST_F(CandidatesTest, EveryOpHasAKernelOrAReason) {
  size_t ops = 0;
  for (RegisteredOperationName name : context.getRegisteredOperations()) {
    if (name.getDialectNamespace() != "graph")
      continue;
    ++ops;
    bool excused = kWithoutKernel.count(name.getStringRef().str()) != 0;
    EXPECT_NE(name.hasInterface<graph::CandidatesOpInterface>(), excused) << name.getStringRef().str();
  }
  EXPECT_GT(ops, 100u);
}

/// What a launch is, for the kernel's cost function.
struct Launch {
  const char *kernel;
  std::vector<std::vector<int64_t>> shapes; // -1: the size that varies
  std::vector<int64_t> attrs;
  std::vector<int> packed; // operands in panel32
};

plim_cost costOf(const Launch &launch, int64_t size) {
  std::vector<plim_shape> shapes;
  for (size_t i = 0; i < launch.shapes.size(); ++i) {
    plim_shape s = {};
    s.dtype = PLIM_F32;
    s.layout = llvm::is_contained(launch.packed, int(i)) ? PLIM_PANEL32 : PLIM_ROW;
    s.rank = uint8_t(launch.shapes[i].size());
    int64_t stride = 1;
    for (size_t d = s.rank; d-- > 0;) {
      s.dims[d] = launch.shapes[i][d] == -1 ? size : launch.shapes[i][d];
      s.strides[d] = stride;
      stride *= s.dims[d];
    }
    shapes.push_back(s);
  }
  std::vector<const plim_shape *> pointers;
  for (const plim_shape &s : shapes)
    pointers.push_back(&s);
  const plim_kernel_entry *entry = plim_find_kernel_entry(launch.kernel);
  EXPECT_NE(entry, nullptr) << launch.kernel;
  return entry->cost(pointers.data(), uint32_t(pointers.size()), launch.attrs.data(), &plim_default_machine);
}

// Workspace is planned for the bounds of open dimensions: no smaller size may take more.
TEST_F(CandidatesTest, WorkspaceDoesNotRiseWhenASizeFalls) {
  const int64_t scale = plim_attr_from_double(0.125);
  auto conv = [] {
    std::vector<int64_t> attrs(PLIM_CONV_WORDS, 0);
    attrs[PLIM_CONV_LAYOUT] = PLIM_CONV_NHWC;
    attrs[PLIM_CONV_FILTER] = PLIM_CONV_FILTER_TAPS;
    attrs[PLIM_CONV_GROUPS] = 1;
    for (int i = 0; i < 3; ++i)
      attrs[PLIM_CONV_KERNEL + i] = i < 2 ? 3 : 1, attrs[PLIM_CONV_STRIDE + i] = attrs[PLIM_CONV_DILATION + i] = 1;
    return attrs;
  };
  const std::vector<Launch> launches = {
      {"matmul.panel32", {{-1, 300}, {300, 70}, {-1, 70}}, {0, 0, 0, 0}, {1}},
      {"matmul.panel32", {{-1, 3000}, {3000, 70}, {-1, 70}}, {0, 0, 0, 0}, {1}},
      {"matmul.batched", {{2, -1, 64}, {2, 64, 96}, {2, -1, 96}}, {0, 0, 0, 0}, {}},
      {"matmul.batched", {{2, 33, 64}, {2, 64, -1}, {2, 33, -1}}, {0, 0, 0, 0}, {}},
      {"matmul.batched", {{2, 33, -1}, {2, -1, 96}, {2, 33, 96}}, {0, 0, 0, 0}, {}},
      {"attention.naive", {{1, 4, -1, 64}, {1, 4, -1, 64}, {1, 4, -1, 64}, {1, 4, -1, 64}}, {0, scale, 0, 0}, {}},
      {"attention.chunked", {{1, 4, -1, 64}, {1, 4, -1, 64}, {1, 4, -1, 64}, {1, 4, -1, 64}}, {0, scale, 0, 128}, {}},
      {"attention.flash", {{1, 4, -1, 64}, {1, 4, -1, 64}, {1, 4, -1, 64}, {1, 4, -1, 64}}, {0, scale, 0, 0}, {}},
      {"attention.flash", {{-1, 4, 90, 64}, {-1, 4, 90, 64}, {-1, 4, 90, 64}, {-1, 4, 90, 64}}, {0, scale, 0, 0}, {}},
      {"attention.reference", {{1, 4, -1, 64}, {1, 4, -1, 64}, {1, 4, -1, 64}, {1, 4, -1, 64}}, {0, scale, 0, 0}, {}},
      {"conv.nhwc_direct", {{-1, 40, 40, 16}, {144, 70}, {-1, 38, 38, 70}}, conv(), {1}},
      {"conv.nhwc_direct", {{1, 600, -1, 256}, {2304, 70}, {1, 598, -1, 70}}, conv(), {1}},
      {"conv.nhwc_direct", {{1, -1, 40, 1024}, {9216, 40}, {1, -1, 38, 40}}, conv(), {1}},
      {"conv.nhwc_winograd", {{-1, 40, 40, 16}, {144, 70}, {-1, 38, 38, 70}}, conv(), {1}},
      {"conv.nhwc_winograd", {{1, 600, -1, 256}, {2304, 70}, {1, 598, -1, 70}}, conv(), {1}},
      {"reduce.nhwc_spatial_mean", {{-1, 40, 40, 96}, {-1, 1, 1, 96}}, {1, 6}, {}},
      {"reduce.nhwc_spatial_mean", {{2, -1, -1, 96}, {2, 1, 1, 96}}, {1, 6}, {}},
      {"softmax.rows", {{4, -1}, {4, -1}}, {1, 0}, {}},
      {"norm.layer", {{-1, 64}, {-1, 64}}, {0, 1, 0, 1}, {}},
      {"resize.apply", {{1, 3, 20, -1}, {1, 3, 40, -1}}, std::vector<int64_t>(16, scale), {}},
      {"sort.top_k", {{3, -1}, {3, 1}, {3, 1}}, {1, 1}, {}},
      {"scan.cumsum", {{3, -1}, {3, -1}}, {1, 0, 0}, {}},
      {"reduce.apply", {{3, -1}, {3, 1}}, {0, 2}, {}},
  };
  for (const Launch &launch : launches) {
    uint64_t shared = 0, scratch = 0;
    for (int64_t size = 0; size <= 700; ++size) {
      plim_cost cost = costOf(launch, size);
      ASSERT_GE(cost.shared_bytes, shared) << launch.kernel << " at " << size;
      ASSERT_GE(cost.scratch_bytes, scratch) << launch.kernel << " at " << size;
      shared = cost.shared_bytes, scratch = cost.scratch_bytes;
    }
  }
}

// A 3x3 convolution of stride 1 has a second form in a numerics class of its own, and exact numerics bars it.
TEST_F(CandidatesTest, WinogradIsForThreeByThreeOfStrideOneOnly) {
  const std::string text = R"(
    #loc1 = loc("same")
    #loc2 = loc("strided")
    func.func @main(%x: tensor<1x56x56x64xf32> {graph.name = "x"}) -> (tensor<1x54x54x64xf32>, tensor<1x27x27x64xf32>) {
      %w = graph.parameter "w" : tensor<576x64xf32, #graph.layout<panel32>>
      %a = graph.conv %x, %w {kernel = array<i64: 3, 3>, layout = #graph.image_layout<nhwc>}
        : (tensor<1x56x56x64xf32>, tensor<576x64xf32, #graph.layout<panel32>>) -> tensor<1x54x54x64xf32> loc(#loc1)
      %b = graph.conv %x, %w {kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>, layout = #graph.image_layout<nhwc>}
        : (tensor<1x56x56x64xf32>, tensor<576x64xf32, #graph.layout<panel32>>) -> tensor<1x27x27x64xf32> loc(#loc2)
      return %a, %b : tensor<1x54x54x64xf32>, tensor<1x27x27x64xf32>
    })";
  for (bool exact : {false, true}) {
    auto launches = lower(text, exact);
    ASSERT_EQ(launches.size(), 2u);
    // A kernel of much scratch stands there again for fewer workers at a time.
    int64_t winogradNs = 0, directNs = 0; // of the last of each
    for (Attribute attribute : launches.at("same").getCandidates()) {
      auto candidate = cast<plan::CandidateAttr>(attribute);
      const bool isWinograd = candidate.getKernel() == "conv.nhwc_winograd";
      if (!isWinograd)
        EXPECT_EQ(candidate.getKernel(), "conv.nhwc_direct");
      EXPECT_EQ(candidate.getBarredBy(), exact && isWinograd ? "--numerics=exact" : "");
      (isWinograd ? winogradNs : directNs) = candidate.getNs();
    }
    EXPECT_GT(winogradNs, 0);
    EXPECT_LT(winogradNs, directNs);
    for (Attribute attribute : launches.at("strided").getCandidates())
      EXPECT_EQ(cast<plan::CandidateAttr>(attribute).getKernel(), "conv.nhwc_direct");
  }
}

TEST_F(CandidatesTest, SizesOfOpenDimensionsFollowTheShapeRules) {
  auto launches = lower(R"(
    #loc1 = loc("conv")
    #loc2 = loc("pool")
    #loc3 = loc("product")
    func.func @main(%x: tensor<?x?x40x8xf32, #graph.bounds<[1 to 4, 5 to 64, 40, 8]>> {graph.name = "x", graph.dim_names = ["N", "H", "", ""]})
        -> tensor<?x10xf32> {
      %w = graph.parameter "w" : tensor<72x16xf32, #graph.layout<panel32>>
      %m = graph.parameter "m" : tensor<320x10xf32, #graph.layout<panel32>>
      %c = graph.conv %x, %w {kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>, layout = #graph.image_layout<nhwc>}
        : (tensor<?x?x40x8xf32, #graph.bounds<[1 to 4, 5 to 64, 40, 8]>>, tensor<72x16xf32, #graph.layout<panel32>>)
        -> tensor<?x?x19x16xf32, #graph.bounds<[1 to 4, 2 to 31, 19, 16]>> loc(#loc1)
      %p = graph.pool max %c {kernel = array<i64: 1, 1>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 1>, layout = #graph.image_layout<nhwc>}
        : (tensor<?x?x19x16xf32, #graph.bounds<[1 to 4, 2 to 31, 19, 16]>>)
        -> tensor<?x?x20x16xf32, #graph.bounds<[1 to 4, 2 to 31, 20, 16]>> loc(#loc2)
      %r = graph.reshape %p {shape = array<i64: -1, 320>}
        : (tensor<?x?x20x16xf32, #graph.bounds<[1 to 4, 2 to 31, 20, 16]>>) -> tensor<?x320xf32, #graph.bounds<[2 to 124, 320]>>
      %y = graph.matmul %r, %m : (tensor<?x320xf32, #graph.bounds<[2 to 124, 320]>>, tensor<320x10xf32, #graph.layout<panel32>>)
        -> tensor<?x10xf32> loc(#loc3)
      return %y : tensor<?x10xf32>
    })");
  ASSERT_EQ(launches.size(), 3u);
  AffineExpr n = getAffineSymbolExpr(0, &context), h = getAffineSymbolExpr(1, &context);
  plan::ShapeAttr conv = launches.at("conv").getAccess(2).getShape(),
                  product = launches.at("product").getAccess(0).getShape();
  EXPECT_EQ(launches.at("conv").getCandidate(0).getKernel(), "conv.nhwc_direct");
  EXPECT_EQ(conv.getDims()[0], n);
  EXPECT_EQ(conv.getDims()[1], (h - 3).floorDiv(2) + 1);
  EXPECT_EQ(conv.getBounds()[1], 31);
  EXPECT_EQ(product.getDims()[0], n * ((h - 3).floorDiv(2) + 1));
  EXPECT_EQ(product.getBounds()[0], 124);
}

} // namespace
