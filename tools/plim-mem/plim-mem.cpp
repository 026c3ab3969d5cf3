//===- plim-mem.cpp - What the machine gives a plan ---------------------------------------------===//
#include "tools/plim-mem/Command.h"
#include <iostream>

int main(int argc, char **argv) {
  return plim::runPlimMem(std::vector<std::string>(argv + 1, argv + argc), std::cout, std::cerr);
}
