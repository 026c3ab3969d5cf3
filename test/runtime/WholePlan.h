// A plan that uses everything a table can say, for tests that change tables.
#ifndef PLIM_TEST_RUNTIME_WHOLE_PLAN_H
#define PLIM_TEST_RUNTIME_WHOLE_PLAN_H

#include "test/runtime/TestKernels.h"

namespace plim::test {

/// Every opcode and every kind of view in two programs of two variants.
TableBuilder wholePlan();

/// Runs every program of an accepted table as a poison run, with bindings at the bounds and kernels that read all that
/// they are given. Any status is fine; false where the caller's memory around a binding changed. Tables that would run
/// for years or reserve much are left out.
bool staysWithinBounds(Table table);

} // namespace plim::test

#endif
