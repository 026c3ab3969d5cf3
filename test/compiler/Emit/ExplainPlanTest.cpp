// What --explain says of a plan's document.
#include "compiler/Emit/PlanReport.h"
#include "gmock/gmock.h"

using plim::emit::explainPlan;
using plim::emit::Json;
using testing::HasSubstr;

namespace {

/// A program of `stages` in two pieces each, one step a piece.
Json planOfStages(int stages) {
  Json program = {{"name", "main"},
                  {"variant", ""},
                  {"budget", {{"ram", 1 << 20}}},
                  {"peak", {{"ram", 1 << 20}}},
                  {"reserved_peak", {{"ram", 1 << 20}}},
                  {"live_peak", {{"ram", 1 << 19}}},
                  {"resident_bytes", 0},
                  {"io_bytes", 0},
                  {"streamed_bytes", 0},
                  {"inputs", Json::array()},
                  {"levers", {{"split", 2 * stages}}},
                  {"steps", Json::array()},
                  {"buffers", Json::array()}};
  for (int stage = 0; stage < stages; ++stage)
    for (int piece : {0, 1})
      program["steps"].push_back(
          {{"op", "launch"},
           {"source", "stage " + std::to_string(stage)},
           {"live", stage},
           {"piece", {{"number", piece}, {"of", 2}, {"rows", {8 * piece, 8 * piece + 8}}, {"extent", 16}}}});
  return {{"programs", {program}}};
}

TEST(ExplainPlan, NoLineIsCutHoweverManyStagesAreInPieces) {
  const std::string text = explainPlan(planOfStages(100));
  EXPECT_THAT(text, HasSubstr("pieces of rows: 'stage 0' to 'stage 0' in 2 pieces; 'stage 1' to"));
  EXPECT_THAT(text, HasSubstr("'stage 99' to 'stage 99' in 2 pieces\n"));
}

TEST(ExplainPlan, RowsAndPiecesOfTheFullestStepAreCountedFromOne) {
  EXPECT_THAT(explainPlan(planOfStages(3)), HasSubstr("launch stage 2, rows 1 to 8 of 16, piece 1 of 2\n"));
}

} // namespace
