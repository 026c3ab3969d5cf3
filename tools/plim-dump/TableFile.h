//===- TableFile.h - Step tables in files of any kind -----------------------------------*- C++ -*-===//
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"

#include <memory>

namespace plim {

/// A table and the text of its eval functions, as pieces of a file that stays in memory.
struct TableFile {
  std::unique_ptr<llvm::MemoryBuffer> file;
  llvm::ArrayRef<char> table;
  llvm::StringRef evalText; // "" where the file has none
};

/// Finds the table by its magic: in a raw file (table, then the text), or in an object or shared library, whose text is
/// in section .plim.debug. An error says need, have and where.
llvm::Expected<TableFile> openTableFile(llvm::StringRef path);

} // namespace plim
