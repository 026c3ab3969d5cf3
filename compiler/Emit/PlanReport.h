//===- PlanReport.h - What a compiled plan says to people and programs ---------------===//
//
// All but predicted times is read from the step table that the runtime walks, never from the compiler's own structures:
// the report, the chart and `--explain` cannot disagree with what runs.
//
//   planJson      the document of docs/reference/plan-json.md
//   memoryChart   one self-contained HTML page over that document
//   explainPlan   a page of text over that document, for --explain
//
//===----------------------------------------------------------------------------------===//
#ifndef PLIM_COMPILER_EMIT_PLANREPORT_H
#define PLIM_COMPILER_EMIT_PLANREPORT_H

#include "nlohmann/json.hpp"
#include "plim/table.h"
#include <string>
#include <string_view>
#include <vector>

namespace plim::emit {

using Json = nlohmann::ordered_json;

/// What the planner knows and a table does not hold.
struct PlanFacts {
  struct CurvePoint {
    std::string pieces; // what is in pieces: "none", "rows", "weights" or "rows, weights"
    int64_t ram = 0, ssd = 0, ns = 0;
    int64_t recomputed = 0, spilled = 0, streamed = 0, moved = 0; // steps
  };
  // Rows [begin, end) of an op's result, of `extent`, that a launch makes: piece `number` of `pieces` of its stage.
  struct Piece {
    int64_t number = 0, pieces = 0, begin = 0, end = 0, extent = 0; // pieces 0: the launch is no piece
  };
  struct Program {
    std::string name, variant;
    int64_t predictedNs = 0;
    std::vector<Piece> pieces;     // by launch, in the order of the steps; empty where none is a piece
    std::vector<CurvePoint> curve; // by rising ram; empty where it was not asked for
  };
  std::string profile = "default"; // of the machine that the times are predicted for
  std::vector<Program> programs;

  int64_t predictedNs() const {
    int64_t ns = 0;
    for (const Program &program : programs)
      ns += program.predictedNs;
    return ns;
  }
};

/// The table must have passed plim_table_check. Bytes and step numbers throughout.
Json planJson(const plim_table *table, std::string_view modelName, const PlanFacts &facts = {});

/// HTML with the document inside; opens from disk, loads nothing.
std::string memoryChart(const Json &plan);

/// Peak, the step it falls on, what is alive there, the largest buffers and the time predicted by kernel.
std::string explainPlan(const Json &plan);

/// "12.3 MiB", "640 B": binary units for people.
std::string formatBytes(uint64_t bytes);

} // namespace plim::emit

#endif
