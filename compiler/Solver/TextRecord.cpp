//===- TextRecord.cpp - One line of the text format --------------------------------------------===//
#include "compiler/Solver/TextRecord.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include <algorithm>
#include <cctype>
#include <climits>

namespace plim::solver {

static bool isPlain(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) ||
         (c != 0 && std::string_view("._/:+-").find(c) != std::string_view::npos);
}

std::string quote(std::string_view text) {
  if (!text.empty() && std::all_of(text.begin(), text.end(), isPlain))
    return std::string(text);
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\')
      out += '\\', out += c;
    else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
      out += absl::StrCat("\\x", absl::Hex(static_cast<unsigned char>(c), absl::kZeroPad2));
    else
      out += c;
  }
  return out + "\"";
}

// Splits a line into words; a word may hold quoted parts. False: an open quote or a bad escape.
static bool splitWords(std::string_view line, std::vector<std::pair<std::string, size_t>> &words) {
  size_t at = 0;
  while (true) {
    while (at < line.size() && (line[at] == ' ' || line[at] == '\t' || line[at] == '\r'))
      ++at;
    if (at >= line.size() || line[at] == '#')
      return true;
    std::string word;
    size_t equals = std::string::npos; // of the first '=' outside quotes
    bool quoted = false;
    for (; at < line.size() && (quoted || (line[at] != ' ' && line[at] != '\t' && line[at] != '\r')); ++at) {
      char c = line[at];
      if (c == '"') {
        quoted = !quoted;
        continue;
      }
      if (quoted && c == '\\') {
        if (++at >= line.size())
          return false;
        if (line[at] == 'x') {
          auto hex = [&](size_t k) { return k < line.size() && std::isxdigit(static_cast<unsigned char>(line[k])); };
          if (!hex(at + 1) || !hex(at + 2))
            return false;
          word += char(std::stoi(std::string(line.substr(at + 1, 2)), nullptr, 16));
          at += 2;
        } else {
          word += line[at];
        }
        continue;
      }
      if (c == '=' && !quoted && equals == std::string::npos)
        equals = word.size();
      word += c;
    }
    if (quoted)
      return false;
    words.push_back({std::move(word), equals});
  }
}

Record::Record(std::string_view text, int number, std::vector<std::string> &errors) : line(number), errors(errors) {
  std::vector<std::pair<std::string, size_t>> words;
  if (!splitWords(text, words)) {
    fail("need a closing quote and escapes \\\" \\\\ \\xHH");
    return;
  }
  for (size_t k = 0; k < words.size(); ++k) {
    auto &[word, equals] = words[k];
    if (k == 0)
      first = word;
    else if (equals == std::string::npos)
      plain.push_back(word);
    else if (!fields.emplace(word.substr(0, equals), word.substr(equals + 1)).second)
      fail(absl::StrCat("need '", word.substr(0, equals), "' once, have it twice"));
  }
}

void Record::fail(const std::string &message) { errors.push_back(absl::StrCat("line ", line, ": ", message)); }

void Record::failUnknown() {
  fail(absl::StrCat("unknown line '", first, "'"));
  taken = plain.size();
  fields.clear();
}

void Record::finish() {
  for (; taken < plain.size(); ++taken)
    fail(absl::StrCat("'", first, "' takes no '", plain[taken], "'"));
  for (const auto &[key, value] : fields)
    if (!used.count(key))
      fail(absl::StrCat("'", first, "' has no field '", key, "'"));
}

std::string Record::name() {
  if (taken < plain.size())
    return plain[taken++];
  fail(absl::StrCat("need a name after '", first, "'"));
  return "";
}

std::vector<std::string> Record::names() {
  std::vector<std::string> rest(plain.begin() + int64_t(taken), plain.end());
  taken = plain.size();
  return rest;
}

std::string Record::text(const char *key) {
  used[key] = true;
  auto it = fields.find(key);
  return it == fields.end() ? "" : it->second;
}

bool Record::parse(std::string_view word, int64_t low, int64_t high, int64_t &value, const std::string &what) {
  int64_t parsed = 0;
  if (absl::SimpleAtoi(absl::string_view(word.data(), word.size()), &parsed) && parsed >= low && parsed <= high) {
    value = parsed;
    return true;
  }
  fail(absl::StrCat("need ", what, " as a whole number in [", low, ", ", high, "], have '",
                    absl::string_view(word.data(), word.size()), "'"));
  return false;
}

int64_t Record::number(const char *key, int64_t otherwise) {
  if (has(key))
    parse(text(key), INT64_MIN, INT64_MAX, otherwise, key);
  return otherwise;
}

int Record::id(const char *key, int otherwise) {
  int64_t value = otherwise;
  if (has(key))
    parse(text(key), INT_MIN, INT_MAX, value, key);
  return int(value);
}

std::vector<std::string> Record::words(const char *key) {
  const std::string all = text(key);
  if (all.empty() || all == "-")
    return {};
  return absl::StrSplit(all, ',');
}

std::vector<int> Record::splitIds(const std::string &text, const std::string &what) {
  std::vector<int> result;
  if (text.empty() || text == "-")
    return result;
  for (absl::string_view word : absl::StrSplit(text, ',')) {
    int64_t value = 0;
    parse({word.data(), word.size()}, INT_MIN, INT_MAX, value, what);
    result.push_back(int(value));
  }
  return result;
}

std::vector<int> Record::ids(const char *key) { return splitIds(text(key), key); }

std::vector<int64_t> Record::numbers(const char *key) {
  std::vector<int64_t> result;
  for (const std::string &word : words(key)) {
    int64_t value = 0;
    parse(word, INT64_MIN, INT64_MAX, value, key);
    result.push_back(value);
  }
  return result;
}

bool Record::colonNumbers(const std::string &word, std::vector<int64_t> &values) {
  values.clear();
  for (absl::string_view part : absl::StrSplit(word, ':'))
    if (!absl::SimpleAtoi(part, &values.emplace_back()))
      return false;
  return true;
}

int64_t Record::plainNumber() {
  int64_t value = 0;
  parse(name(), INT64_MIN, INT64_MAX, value, first);
  return value;
}

int Record::plainId(int otherwise) {
  int64_t value = otherwise;
  parse(name(), INT_MIN, INT_MAX, value, first);
  return int(value);
}

std::vector<int> Record::plainIds() { return splitIds(name(), first); }

void Record::perTier(std::array<int64_t, 4> &values) {
  std::vector<std::string> parts = absl::StrSplit(name(), ',');
  if (parts.size() != values.size())
    return fail(absl::StrCat("need ", values.size(), " numbers (ram, pinned, ssd, gpu), have ", parts.size()));
  for (size_t t = 0; t < parts.size(); ++t)
    parse(parts[t], INT64_MIN, INT64_MAX, values[t], first);
}

size_t Record::index(const std::string &word, const std::vector<const char *> &words) {
  for (size_t k = 0; k < words.size(); ++k)
    if (word == words[k])
      return k;
  fail(absl::StrCat("need one of ", absl::StrJoin(words, ", "), ", have '", word, "'"));
  return 0;
}

void readRecords(std::string_view text, const char *header, std::vector<std::string> &errors,
                 const std::function<void(Record &)> &read) {
  int number = 0;
  bool open = false;
  size_t at = 0;
  while (at < text.size()) {
    const size_t stop = std::min(text.find('\n', at), text.size());
    const size_t known = errors.size();
    Record record(text.substr(at, stop - at), ++number, errors);
    at = stop + 1;
    if (errors.size() != known || record.verb().empty())
      continue;
    if (open) {
      read(record);
      record.finish();
    } else if (record.verb() != header || record.name() != "1") {
      errors.resize(known);
      record.fail(absl::StrCat("need '", header, " 1' first, have '", record.verb(), "'"));
      return;
    } else {
      open = true;
    }
  }
  if (!open)
    errors.push_back(absl::StrCat("line 1: need '", header, " 1', have an empty text"));
}

} // namespace plim::solver
