//===- plim-opt.cpp - Runs passes over IR files -----------------------------------------------===//

#include "compiler/Pipelines/Register.h"

#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  plim::registerAllPlimDialects(registry);
  plim::registerAllPlimPasses();
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, "Plimsoll pass driver\n", registry));
}
