//===- Artifact.cpp - A compiled model, loaded and ready to run -------------------------------===//
#include "tools/plim-run/Artifact.h"
#include "nlohmann/json.hpp"
#include "plim/limits.h"
#include <algorithm>
#include <cmath>
#include <cstring>
#include <dlfcn.h>
#include <fstream>
#include <random>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace plim {
namespace {

/// Reads the text after the top-level key "model" and stops there: the rest of a plan is long.
struct ModelNameReader : nlohmann::json_sax<nlohmann::json> {
  std::string name;
  unsigned depth = 0;
  bool next = false;

  bool key(string_t &text) override {
    next = depth == 1 && text == "model";
    return true;
  }
  bool string(string_t &text) override {
    if (next)
      name = text;
    return !next;
  }
  bool start_object(size_t) override { return ++depth, true; }
  bool end_object() override { return --depth, true; }
  bool start_array(size_t) override { return ++depth, true; }
  bool end_array() override { return --depth, true; }
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t &) override { return true; }
  bool binary(binary_t &) override { return true; }
  bool parse_error(size_t, const std::string &, const nlohmann::json::exception &) override { return false; }
};

} // namespace

Failure lastFailure() {
  const plim_error *e = plim_last_error();
  std::string text = e->where[0] ? std::string(e->where) + ": " + e->message : e->message;
  if (e->need || e->have)
    text += " (need " + std::to_string(e->need) + ", have " + std::to_string(e->have) + ")";
  int code = 70;
  switch (e->status) {
  case PLIM_ERR_ARG:
  case PLIM_ERR_BOUND:
  case PLIM_ERR_TABLE:
  case PLIM_ERR_WEIGHTS:
  case PLIM_ERR_UNSUPPORTED:
    code = 2;
    break;
  case PLIM_ERR_IO:
  case PLIM_ERR_CPU:
  case PLIM_ERR_MEMORY:
  case PLIM_ERR_CANCELLED:
    code = 4;
    break;
  default:
    break;
  }
  return {code, {text}};
}

Artifact::~Artifact() {
  plim_session_destroy(session);
  plim_context_destroy(context);
  plim_weights_destroy(weights);
  if (library)
    ::dlclose(library);
}

/// The name of a variant, or of what "auto" picks: the fastest that fits the memory that is free.
static Failure chooseVariant(const plim_model *model, const std::string &asked, std::string &chosen) {
  uint32_t number = 0;
  if (asked == "auto") {
    plim_memory_limits limits;
    if (plim_memory_limits_read(nullptr, &limits) || plim_pick_variant(model, &limits, &number))
      return lastFailure();
  } else {
    plim_scope scope;
    if (plim_find(model, nullptr, asked.empty() ? nullptr : asked.c_str(), &scope))
      return lastFailure();
    number = scope.variant;
  }
  auto *variants = static_cast<const plim_t_variant *>(plim_table_section(model->table, PLIM_SEC_VARIANTS));
  chosen = plim_table_string(model->table, variants[number].name);
  return {};
}

/// The scope is the one program that runs, or all of the variant where several do: they share states.
Failure Artifact::resolve(const std::vector<std::string> &programs) {
  for (const std::string &name : programs) {
    if (std::any_of(entries.begin(), entries.end(), [&](const Entry &e) { return e.name == name; }))
      continue;
    if (plim_find(model, name.empty() ? nullptr : name.c_str(), variant.c_str(), &scope))
      return lastFailure();
    if (scope.program == PLIM_NONE) {
      auto *variants = static_cast<const plim_t_variant *>(plim_table_section(model->table, PLIM_SEC_VARIANTS));
      if (variants[scope.variant].programs != 1) {
        std::string have;
        auto *all = static_cast<const plim_t_program *>(plim_table_section(model->table, PLIM_SEC_PROGRAMS));
        for (uint32_t i = 0; i < variants[scope.variant].programs; ++i)
          have += (i ? ", " : "") +
                  std::string(plim_table_string(model->table, all[variants[scope.variant].first_program + i].name));
        return {1, {"the model has several entries; choose one with --program: " + have}};
      }
      scope.program = variants[scope.variant].first_program;
    }
    Entry &entry = entries.emplace_back();
    entry.name = name;
    entry.program = scope.program;
  }
  if (entries.size() > 1)
    scope.program = PLIM_NONE;
  return {};
}

Failure Artifact::open(const std::string &path, const std::vector<std::string> &programs,
                       const std::string &wantedVariant, const plim_context_options &options) {
  std::string folder = path, so = path;
  struct stat st{};
  if (::stat(path.c_str(), &st) != 0)
    return {4, {path + ": no such folder or file"}};
  if (S_ISDIR(st.st_mode))
    so = path + "/model.so";
  else
    folder = path.find('/') == std::string::npos ? "." : path.substr(0, path.rfind('/'));
  std::ifstream text(folder + "/model.plan.json");
  if (!text)
    return {4, {folder + "/model.plan.json: cannot be read; need the folder that plimc wrote"}};
  ModelNameReader reader;
  nlohmann::json::sax_parse(text, &reader);
  name = reader.name;
  if (name.empty())
    return {2, {folder + "/model.plan.json: not a plan that plimc wrote"}};
  // dlopen wants a slash to look at a file and not in the library path.
  if (so.find('/') == std::string::npos)
    so = "./" + so;
  library = ::dlopen(so.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return {4, {::dlerror()}};
  model = static_cast<const plim_model *>(::dlsym(library, (name + "_model").c_str()));
  if (!model)
    return {2, {so + ": need the symbol " + name + "_model, have none"}};
  if (Failure f = chooseVariant(model, wantedVariant, variant))
    return f;
  if (Failure f = resolve(programs))
    return f;
  if (plim_model_check(model, scope))
    return lastFailure();
  for (Entry &entry : entries)
    for (uint32_t i = 0; i < plim_io_count(model, entry.program); ++i) {
      plim_io_info info;
      if (plim_io_at(model, entry.program, i, &info))
        return lastFailure();
      if (!info.is_state)
        entry.ios.push_back(info);
    }
  std::string file = folder + "/model.weights";
  if (plim_weights_create(model, scope, file.c_str(), nullptr, &weights) ||
      plim_context_create(weights, scope, &options, &context) || plim_session_create(weights, scope, nullptr, &session))
    return lastFailure();
  return {};
}

IOBuffer &IOBuffer::operator=(IOBuffer &&other) noexcept {
  std::swap(data, other.data);
  std::swap(bytes, other.bytes);
  std::swap(pages, other.pages);
  return *this;
}

IOBuffer::~IOBuffer() {
  if (pages)
    ::munmap(pages, bytes ? bytes : 1);
}

bool IOBuffer::allocate(uint64_t n) {
  void *p = ::mmap(nullptr, n ? n : 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED)
    return false;
  pages = data = p;
  bytes = n;
  return true;
}

namespace {

uint64_t elementsOf(const plim_io_info &io) {
  uint64_t n = 1;
  for (uint32_t d = 0; d < io.rank; ++d)
    n *= uint64_t(io.dims[d]);
  return n;
}

float halfToFloat(uint16_t h) {
  uint32_t sign = uint32_t(h & 0x8000) << 16, exponent = h >> 10 & 31, fraction = h & 1023;
  float value = exponent == 31  ? (fraction ? NAN : INFINITY)
                : exponent == 0 ? std::ldexp(float(fraction), -24)
                                : std::ldexp(float(fraction + 1024), int(exponent) - 25);
  return sign ? -value : value;
}

double valueAt(uint8_t dtype, const void *data, uint64_t i) {
  auto as = [&](auto type) { return double(static_cast<const decltype(type) *>(data)[i]); };
  switch (dtype) {
  case PLIM_F32:
    return as(float());
  case PLIM_F64:
    return as(double());
  case PLIM_F16:
    return halfToFloat(static_cast<const uint16_t *>(data)[i]);
  case PLIM_BF16:
    return __builtin_bit_cast(float, uint32_t(static_cast<const uint16_t *>(data)[i]) << 16);
  case PLIM_I8:
    return as(int8_t());
  case PLIM_I16:
    return as(int16_t());
  case PLIM_I32:
    return as(int32_t());
  case PLIM_I64:
    return as(int64_t());
  case PLIM_U16:
    return as(uint16_t());
  case PLIM_U32:
    return as(uint32_t());
  case PLIM_U64:
    return as(uint64_t());
  default:
    return as(uint8_t());
  }
}

} // namespace

void fillRandom(const plim_io_info &io, void *data, uint64_t seed) {
  std::mt19937_64 rng(seed);
  uint64_t n = elementsOf(io);
  for (uint64_t i = 0; i < n; ++i) {
    uint64_t bits = rng();
    double unit = double(bits >> 40) / double(1 << 24);
    switch (io.dtype) {
    case PLIM_F32:
      static_cast<float *>(data)[i] = float(unit);
      break;
    case PLIM_F64:
      static_cast<double *>(data)[i] = unit;
      break;
    case PLIM_BF16:
      static_cast<uint16_t *>(data)[i] = uint16_t(__builtin_bit_cast(uint32_t, float(unit)) >> 16);
      break;
    case PLIM_F16: // [0.5, 1) has one exponent and free fraction bits
      static_cast<uint16_t *>(data)[i] = uint16_t(0x3800 | (bits & 1023));
      break;
    case PLIM_BOOL:
      static_cast<uint8_t *>(data)[i] = bits & 1;
      break;
    default: {
      uint64_t value = (bits >> 8) % 10;
      std::memcpy(static_cast<char *>(data) + i * plim_dtype_bytes(io.dtype), &value, plim_dtype_bytes(io.dtype));
    }
    }
  }
}

Comparison compare(uint8_t dtype, const void *have, const void *want, uint64_t elements, double rtol, double atol) {
  Comparison c;
  c.elements = elements;
  for (uint64_t i = 0; i < elements; ++i) {
    double h = valueAt(dtype, have, i), w = valueAt(dtype, want, i);
    if ((std::isnan(h) && std::isnan(w)) || h == w)
      continue;
    double error = std::abs(h - w);
    bool outside = !(error <= atol + rtol * std::abs(w));
    c.outside += outside;
    if (std::isnan(error) || error > c.largestError)
      c.largestError = std::isnan(error) ? INFINITY : error, c.at = h, c.want = w;
  }
  return c;
}

} // namespace plim
