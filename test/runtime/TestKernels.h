// Kernels and scalar functions of the runtime's tests, and models made of a table and these kernels.
//
//   test.add     x, y -> z           z = x + y
//   test.scale   x -> y              y = attr0 * x
//   test.sum     x -> y[1]           two phases; partial sums in `shared`, each staged in `scratch`
//   test.count   x -> result0        how many elements of x are not 0
//   test.fail    x -> y              returns attr0
//   test.overrun x -> y              writes one byte beyond y
//   test.wide    x -> y              as scale, with code for x86-64-v4 only
#ifndef PLIM_TEST_RUNTIME_TEST_KERNELS_H
#define PLIM_TEST_RUNTIME_TEST_KERNELS_H

#include "test/runtime/TableBuilder.h"

namespace plim::test {

const plim_kernel &findTestKernel(const std::string &name);

enum { EVAL_DOUBLE = 0, EVAL_SUM_DIFFERENCE = 1, EVAL_COUNT = 2 };

/// A table and the kernels that it names.
struct Model {
  explicit Model(TableBuilder &builder) : Model(builder.finish(), builder.kernels()) {}
  Model(Table finished, const std::vector<std::string> &kernelNames);
  Model(const Model &) = delete;

  Table table;
  std::vector<const plim_kernel *> kernels;
  plim_model model;
};

} // namespace plim::test

#endif
