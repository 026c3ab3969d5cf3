//===- Graph.h - A problem as the joint planner sees it ------------------------------------------===//
//
// What matters for memory over time, in compact numbers: operations in a given order, the values they pass on, and the
// ways to run them. Left out are buffers that stay where they are all run long (inputs, outputs, states, constants that
// are not streamed) and steps that only make views: a read of a view is a read of the value whose bytes it shows.
//
//===------------------------------------------------------------------------------------------===//
#ifndef PLIM_SOLVER_JOINT_GRAPH_H
#define PLIM_SOLVER_JOINT_GRAPH_H

#include "compiler/Solver/Layout.h"
#include <algorithm>

namespace plim::solver {

struct Graph {
  // One way to run an operation. Way 0 belongs to the fastest choice.
  struct Way {
    int64_t ns = 0, workspace = 0;
    int candidate = 0; // of the step
    bool inPlace = false;
  };
  // Bytes that two values of an operation share while it runs, so that they count once.
  struct Sharing {
    int gives = -1, takes = -1; // in place: `takes` lies in the bytes of `gives`, which dies. Into: `gives` in `takes`
    bool inPlace = false;
  };
  struct Operation {
    int step = -1;
    std::vector<int> reads{}, writes{}; // values, sorted
    std::vector<Way> ways{};            // by choice of the group; one where there is none
    int group = -1;
    int latest = 0;     // it may run in slots up to here: later ones see another version of a state
    bool once = false;  // runs in its own slot and in no other
    bool first = false; // runs in its own slot at least
    std::vector<Sharing> sharings{};
  };
  struct Value {
    int buffer = -1;
    std::vector<int64_t> bytes{}; // by choice of the group, rounded up as its storage is; 0 where it lies in an output
    int group = -1;
    int maker = -1;         // operation, -1 of a streamed constant
    bool remakable = false; // its maker may run again
    bool spillable = false; // may be written to the ssd; of a constant: always false
    bool inFile = false;    // a constant that is streamed in any case
    std::vector<int> readers{};
    bool mayWaitOnSsd() const { return maker < 0 || spillable; }
  };
  // A group of the problem, or the candidates of one step.
  struct Group {
    int group = -1;             // in the problem, or -1
    std::vector<int> choices{}; // choices of the problem's group, or candidates of the step; the fastest first
    std::vector<int> operations{}, values{};
  };

  // `order`: all steps, meeting all dependencies. `ssd`: there are bytes on the ssd to spill to.
  Graph(const Context &context, const std::vector<int> &order, bool ssd);

  bool transfers() const { return std::ranges::any_of(values, &Value::mayWaitOnSsd); } // whether a plan may have some

  const Problem &problem;
  std::vector<Operation> operations{};
  std::vector<Value> values{};
  std::vector<Group> groups{};
  std::vector<int> valueOf{};   // by buffer; -1 where it stays in place; of a view: that of its base
  std::vector<int> viewOf{};    // by buffer: the buffer whose bytes it shows, or -1
  int64_t resident = 0;         // bytes of constants that are not streamed, where some are
  int64_t fastestNs = 0;        // of all operations, once each, way 0
  std::vector<int> candidate{}; // by step: of those that are views

private:
  void findViews(const Context &context);
  std::vector<char> liesInOutput(const Context &context) const;
  void makeValues(const Context &context, bool ssd);
  void makeOperations(const std::vector<int> &order);
  void makeGroups();
  void findSharings();
  bool takesSubrange(const Context &context, int buffer, int exempt) const;
};

} // namespace plim::solver

#endif // PLIM_SOLVER_JOINT_GRAPH_H
