//===- TextRecord.h - One line of the text format: a verb, names, key=value fields -------------===//
#ifndef PLIM_SOLVER_TEXTRECORD_H
#define PLIM_SOLVER_TEXTRECORD_H

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace plim::solver {

// The words for the values of an enum, in order.
template <typename Enum> struct Names {
  std::vector<const char *> words;
  const char *of(Enum value) const { return words[size_t(value)]; }
};

// A word as it is where it has only letters, digits and ._/:+-; else in double quotes, with
// \" \\ and \xHH for control characters.
std::string quote(std::string_view text);

class Record {
public:
  Record(std::string_view text, int number, std::vector<std::string> &errors);

  const std::string &verb() const { return first; }
  void fail(const std::string &message);
  void failUnknown();
  void finish(); // reports names and fields that nothing has asked for

  std::string name();               // the next name; an error where there is none
  std::vector<std::string> names(); // all that are left
  bool has(const char *key) const { return fields.count(key) != 0; }
  std::string text(const char *key); // "" where there is no such field
  int64_t number(const char *key, int64_t otherwise);
  int id(const char *key, int otherwise);
  std::vector<int> ids(const char *key); // "-" is the empty list, also for the others
  std::vector<int64_t> numbers(const char *key);
  std::vector<std::string> words(const char *key);
  // The numbers of one of `words`, as in 1:2:3; false where one is none.
  static bool colonNumbers(const std::string &word, std::vector<int64_t> &values);
  template <typename Enum> Enum oneOf(const char *key, const Names<Enum> &names, Enum otherwise) {
    return has(key) ? Enum(index(text(key), names.words)) : otherwise;
  }
  template <typename Enum> Enum nameOf(const Names<Enum> &names, Enum) { return Enum(index(name(), names.words)); }

  int64_t plainNumber(); // the next name as a number
  int plainId(int otherwise);
  std::vector<int> plainIds();
  void perTier(std::array<int64_t, 4> &values);

private:
  int line;
  std::vector<std::string> &errors;
  std::string first;
  std::vector<std::string> plain;
  size_t taken = 0;
  std::map<std::string, std::string> fields;
  std::map<std::string, bool> used;

  bool parse(std::string_view word, int64_t low, int64_t high, int64_t &value, const std::string &what);
  size_t index(const std::string &word, const std::vector<const char *> &words);
  std::vector<int> splitIds(const std::string &text, const std::string &what);
};

// Calls `read` for each line that is not empty or a comment (#); the first must be "<header> 1".
void readRecords(std::string_view text, const char *header, std::vector<std::string> &errors,
                 const std::function<void(Record &)> &read);

} // namespace plim::solver

#endif // PLIM_SOLVER_TEXTRECORD_H
