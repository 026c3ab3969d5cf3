// Claims about the .npy reader of plim-run: what NumPy writes is read back, everything else is refused with a reason.
#include "tools/plim-run/Npy.h"
#include "gtest/gtest.h"
#include <cstring>
#include <random>

namespace {
using plim::NpyArray;
using plim::npyHeader;
using plim::parseNpy;

std::string file(uint8_t dtype, const std::vector<int64_t> &dims, size_t bytes) {
  std::string out = npyHeader(dtype, dims);
  for (size_t i = 0; i < bytes; ++i)
    out += char(i);
  return out;
}

TEST(Npy, HeaderIsAlignedAndReadsBackForEveryTypeAndRank) {
  for (uint8_t dtype = PLIM_F32; dtype <= PLIM_BOOL; ++dtype)
    for (size_t rank = 0; rank <= PLIM_MAX_RANK; ++rank) {
      std::vector<int64_t> dims(rank, 2);
      uint64_t bytes = (uint64_t(1) << rank) * plim_dtype_bytes(dtype);
      std::string text = file(dtype, dims, bytes);
      EXPECT_EQ(npyHeader(dtype, dims).size() % 64, 0u);
      NpyArray a;
      ASSERT_EQ(parseNpy(text, a), "");
      EXPECT_EQ(a.dims, dims);
      EXPECT_EQ(a.bytes, bytes);
      EXPECT_EQ(a.dtype, dtype == PLIM_BF16 ? PLIM_U16 : dtype);
      EXPECT_EQ(std::memcmp(a.data, text.data() + text.size() - bytes, bytes), 0);
    }
}

TEST(Npy, ZeroSizedArraysHaveNoBytes) {
  NpyArray a;
  ASSERT_EQ(parseNpy(file(PLIM_F32, {1, 3, 0, 64}, 0), a), "");
  EXPECT_EQ(a.bytes, 0u);
}

TEST(Npy, EveryTruncationIsRefused) {
  std::string whole = file(PLIM_I64, {3, 5}, 120);
  for (size_t n = 0; n < whole.size(); ++n) {
    NpyArray a;
    EXPECT_NE(parseNpy(std::string_view(whole).substr(0, n), a), "") << n;
  }
}

TEST(Npy, RefusesWhatItCannotHoldAndSaysWhy) {
  auto with = [](const char *from, const char *to) {
    std::string text = file(PLIM_F32, {4, 4}, 64);
    size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos);
    return text.replace(at, std::strlen(from), to);
  };
  NpyArray a;
  EXPECT_NE(parseNpy(with("<f4", ">f4"), a).find("little-endian"), std::string::npos);
  EXPECT_NE(parseNpy(with("False", "True "), a).find("Fortran"), std::string::npos);
  EXPECT_NE(parseNpy(with("(4, 4)", "(9, 9)"), a).find("need 324 bytes of data, have 64"), std::string::npos);
  EXPECT_NE(parseNpy(with("(4, 4)", "(-4,4)"), a).find("dimension"), std::string::npos);
  EXPECT_NE(parseNpy(with("shape", "shope"), a).find("unknown key"), std::string::npos);
  EXPECT_NE(parseNpy(with("(4, 4), }          ", "(99999999999999, 4)"), a), "");
  EXPECT_NE(parseNpy("PK\x03\x04 a zip file", a).find("not a .npy file"), std::string::npos);
}

TEST(Npy, RandomChangesNeverCrashNorReadOutside) {
  std::mt19937 rng(1);
  std::string whole = file(PLIM_F32, {2, 3, 4}, 96);
  for (int round = 0; round < 20000; ++round) {
    std::string text = whole;
    for (int k = 0; k < 3; ++k)
      text[rng() % 128] = char(rng());
    NpyArray a;
    if (parseNpy(text, a).empty()) {
      const char *data = static_cast<const char *>(a.data);
      EXPECT_GE(data, text.data());
      EXPECT_LE(data + a.bytes, text.data() + text.size());
    }
  }
}

} // namespace
