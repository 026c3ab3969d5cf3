//===- MemoryChart.cpp - The plan as one HTML page --------------------------------------===//
#include "compiler/Emit/PlanReport.h"

namespace plim::emit {

// The page of chart.html, embedded by the build; the document takes the place of its mark.
extern const char chartPage[];

std::string memoryChart(const Json &plan) {
  std::string document = plan.dump(-1, ' ', /*ensure_ascii=*/true, Json::error_handler_t::replace);
  // Inside a script element only "</" can end it.
  for (size_t at = 0; (at = document.find("</", at)) != std::string::npos; at += 3)
    document.replace(at, 2, "<\\/");
  std::string page = chartPage;
  constexpr std::string_view mark = "@PLAN@";
  page.replace(page.find(mark), mark.size(), document);
  return page;
}

} // namespace plim::emit
