//===- plim-solve.cpp - Parts of the memory planner on instance files --------------------------===//
#include "tools/plim-solve/Command.h"
#include <iostream>

int main(int argc, char **argv) {
  return plim::runPlimSolve(std::vector<std::string>(argv + 1, argv + argc), std::cout, std::cerr);
}
