//===- TableBuilder.h - Sections of a step table while it is being written -------------*- C++ -*-===//
#pragma once

#include "compiler/Lowering/PlanTable/PlanTable.h"

#include <array>
#include <map>

namespace plim::plan {

/// Strings, word lists, index lists, kernels and shapes are kept once however often they are added.
class TableBuilder {
public:
  /// Appends a record and returns its number.
  template <typename Record> uint32_t add(plim_section section, const Record &record) {
    std::string &bytes = sections[section];
    uint32_t number = bytes.size() / sizeof(Record);
    bytes.append(reinterpret_cast<const char *>(&record), sizeof(Record));
    return number;
  }
  template <typename Record> uint32_t count(plim_section section) const {
    return sections[section].size() / sizeof(Record);
  }
  template <typename Record> Record &at(plim_section section, uint32_t number) {
    return reinterpret_cast<Record *>(sections[section].data())[number];
  }

  /// A text of a table ends at its first zero byte: one that has another sets `hasCutText`.
  uint32_t string(llvm::StringRef text);
  uint32_t words(llvm::ArrayRef<int64_t> words) { return list<int64_t>(PLIM_SEC_WORDS, words); }
  uint32_t indices(llvm::ArrayRef<uint32_t> indices) { return list<uint32_t>(PLIM_SEC_INDICES, indices); }
  uint32_t kernel(llvm::StringRef name, uint32_t phases);
  /// `scalars`: the slot of each entry of the op's scalar list. Strides of `shape` at their bounds where not given.
  uint32_t shape(ShapeAttr shape, llvm::ArrayRef<uint32_t> scalars);

  std::vector<std::string> kernelNames;
  bool hasCutText = false;

  /// The table, but for peaks and hash; `header` has the fields that describe the artifact.
  TableBytes finish(const plim_table &header) const;

private:
  template <typename T> uint32_t list(plim_section section, llvm::ArrayRef<T> items);
  uint32_t once(plim_section section, std::string key, size_t unit);

  std::array<std::string, PLIM_SEC_COUNT> sections;
  std::map<std::pair<int, std::string>, uint32_t> known; // by section and bytes
};

} // namespace plim::plan
