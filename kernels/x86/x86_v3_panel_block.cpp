//===- x86_v3_panel_block.cpp - kernels/x86/panel_block.h for x86-64-v3 --------------------===//

#include "kernels/x86/panel_block_loops.h"

extern "C" void plim_panel_block_v3(const plim::PanelBlock *block) { plim::computeBlock(*block); }
