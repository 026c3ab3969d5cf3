//===- Npy.cpp - Arrays in NumPy's .npy files ---------------------------------------------===//
#include "tools/plim-run/Npy.h"
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace plim {
namespace {

struct TypeName {
  uint8_t dtype;
  const char *name, *npy;
};

constexpr TypeName typeNames[] = {
    {PLIM_F32, "f32", "<f4"},   {PLIM_F16, "f16", "<f2"}, {PLIM_F64, "f64", "<f8"}, {PLIM_I8, "i8", "|i1"},
    {PLIM_I16, "i16", "<i2"},   {PLIM_I32, "i32", "<i4"}, {PLIM_I64, "i64", "<i8"}, {PLIM_U8, "u8", "|u1"},
    {PLIM_U16, "u16", "<u2"},   {PLIM_U32, "u32", "<u4"}, {PLIM_U64, "u64", "<u8"}, {PLIM_BOOL, "bool", "|b1"},
    {PLIM_BF16, "bf16", "<u2"}, // last: reading '<u2' gives u16
};

// Just enough of a Python dict literal: {'descr': '<f4', 'fortran_order': False, 'shape': (1, 3), }.
class HeaderParser {
public:
  explicit HeaderParser(std::string_view text) : text(text) {}

  std::string parse(std::string &descr, bool &fortran, std::vector<int64_t> &dims) {
    bool haveDescr = false, haveOrder = false, haveShape = false;
    if (!eat('{'))
      return need("'{'");
    while (!eat('}')) {
      std::string key;
      if (!quoted(key))
        return need("a quoted key or '}'");
      if (!eat(':'))
        return need("':'");
      if (key == "descr") {
        if (!quoted(descr))
          return need("a quoted type");
        haveDescr = true;
      } else if (key == "fortran_order") {
        if (word("True"))
          fortran = true;
        else if (word("False"))
          fortran = false;
        else
          return need("True or False");
        haveOrder = true;
      } else if (key == "shape") {
        if (std::string e = shape(dims); !e.empty())
          return e;
        haveShape = true;
      } else {
        return "unknown key '" + key + "' in the header";
      }
      eat(',');
    }
    if (!haveDescr || !haveOrder || !haveShape)
      return "need 'descr', 'fortran_order' and 'shape' in the header";
    return "";
  }

private:
  void space() {
    while (at < text.size() && (text[at] == ' ' || text[at] == '\n' || text[at] == '\t'))
      ++at;
  }
  bool eat(char c) {
    space();
    if (at >= text.size() || text[at] != c)
      return false;
    ++at;
    return true;
  }
  bool word(std::string_view w) {
    space();
    if (text.substr(at, w.size()) != w)
      return false;
    at += w.size();
    return true;
  }
  bool quoted(std::string &out) {
    space();
    if (at >= text.size() || (text[at] != '\'' && text[at] != '"'))
      return false;
    size_t end = text.find(text[at], at + 1);
    if (end == std::string_view::npos)
      return false;
    out = text.substr(at + 1, end - at - 1);
    at = end + 1;
    return true;
  }
  std::string shape(std::vector<int64_t> &dims) {
    if (!eat('('))
      return need("'('");
    while (!eat(')')) {
      space();
      int64_t value = 0;
      size_t digits = 0;
      for (; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at, ++digits) {
        if (value > (INT64_MAX - 9) / 10)
          return "a dimension does not fit 64 bits";
        value = value * 10 + (text[at] - '0');
      }
      if (digits == 0)
        return need("a dimension or ')'");
      if (dims.size() == PLIM_MAX_RANK)
        return "need a rank of at most 8, have more";
      dims.push_back(value);
      eat(',');
    }
    return "";
  }
  std::string need(const char *what) const {
    return std::string("need ") + what + " at byte " + std::to_string(at) + " of the header";
  }

  std::string_view text;
  size_t at = 0;
};

} // namespace

const char *dtypeName(uint8_t dtype) {
  for (const TypeName &t : typeNames)
    if (t.dtype == dtype)
      return t.name;
  return "?";
}

uint8_t dtypeFromName(std::string_view name) {
  for (const TypeName &t : typeNames)
    if (name == t.name)
      return t.dtype;
  return 0;
}

std::string parseNpy(std::string_view file, NpyArray &out) {
  out = {};
  if (file.size() < 10 || std::memcmp(file.data(), "\x93NUMPY", 6) != 0)
    return "not a .npy file: need the magic bytes \\x93NUMPY";
  auto byte = [&](size_t i) { return uint32_t(uint8_t(file[i])); };
  uint32_t major = byte(6);
  if (major < 1 || major > 3)
    return "need .npy format version 1 to 3, have " + std::to_string(major);
  size_t start = major == 1 ? 10 : 12;
  if (file.size() < start)
    return "truncated: need " + std::to_string(start) + " bytes of preamble, have " + std::to_string(file.size());
  uint64_t length = major == 1 ? byte(8) | byte(9) << 8 : byte(8) | byte(9) << 8 | byte(10) << 16 | byte(11) << 24;
  if (length > file.size() - start)
    return "truncated: need " + std::to_string(length) + " bytes of header, have " +
           std::to_string(file.size() - start);
  std::string descr;
  bool fortran = false;
  if (std::string e = HeaderParser(file.substr(start, length)).parse(descr, fortran, out.dims); !e.empty())
    return e;
  for (const TypeName &t : typeNames)
    if (descr == t.npy && !out.dtype)
      out.dtype = t.dtype;
  if (!out.dtype)
    return "need a little-endian number type such as '<f4', have '" + descr + "'";
  if (fortran && out.dims.size() > 1)
    return "need C order, have Fortran order (save numpy.ascontiguousarray(x))";
  uint64_t bytes = plim_dtype_bytes(out.dtype);
  for (int64_t d : out.dims)
    if (__builtin_mul_overflow(bytes, uint64_t(d), &bytes))
      return "the array's size does not fit 64 bits";
  if (bytes > file.size() - start - length)
    return "truncated: need " + std::to_string(bytes) + " bytes of data, have " +
           std::to_string(file.size() - start - length);
  out.data = file.data() + start + length;
  out.bytes = bytes;
  return "";
}

std::string npyHeader(uint8_t dtype, const std::vector<int64_t> &dims) {
  std::string dict = "{'descr': '";
  for (const TypeName &t : typeNames)
    if (t.dtype == dtype)
      dict += t.npy;
  dict += "', 'fortran_order': False, 'shape': (";
  for (size_t i = 0; i < dims.size(); ++i)
    dict += (i ? ", " : "") + std::to_string(dims[i]);
  dict += dims.size() == 1 ? ",), }" : "), }";
  // Padded so that the data starts on 64 bytes.
  size_t total = (10 + dict.size() + 1 + 63) / 64 * 64;
  dict.append(total - 10 - dict.size() - 1, ' ');
  dict += '\n';
  std::string out("\x93NUMPY\x01\x00", 8);
  out += char(dict.size() & 255);
  out += char(dict.size() >> 8);
  return out + dict;
}

MappedFile::~MappedFile() {
  if (data)
    ::munmap(data, size);
}

std::string MappedFile::open(const std::string &path) {
  int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return path + ": " + std::strerror(errno);
  struct stat st{};
  if (::fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
    ::close(fd);
    return path + ": not a regular file";
  }
  size = size_t(st.st_size);
  if (size) {
    void *p = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (p == MAP_FAILED) {
      std::string why = path + ": " + std::strerror(errno);
      ::close(fd);
      size = 0;
      return why;
    }
    data = p;
  }
  ::close(fd);
  return "";
}

} // namespace plim
