//===- x86_v4_panel_block.cpp - kernels/x86/panel_block.h for x86-64-v4 --------------------===//

#include "kernels/x86/panel_block_loops.h"

extern "C" void plim_panel_block_v4(const plim::PanelBlock *block) { plim::computeBlock(*block); }
