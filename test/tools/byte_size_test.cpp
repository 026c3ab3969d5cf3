// Claims about sizes on the command line.
#include "tools/options/ByteSize.h"
#include "gtest/gtest.h"

namespace {

TEST(ByteSize, DecimalAndBinaryUnitsDiffer) {
  int64_t n = 0;
  EXPECT_EQ(plim::parseByteSize("96MiB", n), "");
  EXPECT_EQ(n, 96 << 20);
  EXPECT_EQ(plim::parseByteSize("96MB", n), "");
  EXPECT_EQ(n, 96000000);
  EXPECT_EQ(plim::parseByteSize("1.5 KiB", n), "");
  EXPECT_EQ(n, 1536);
  EXPECT_EQ(plim::parseByteSize("0", n), "");
  EXPECT_EQ(n, 0);
  EXPECT_EQ(plim::parseByteSize("4097", n), "");
  EXPECT_EQ(n, 4097);
}

TEST(ByteSize, RefusesWhatIsNotASizeAndSaysWhatIs) {
  for (const char *text : {"", "-1", "12XB", "MiB", "1e9", ".", "12 34", "0x10", "nan", "99999999TiB"}) {
    int64_t n = 7;
    std::string why = plim::parseByteSize(text, n);
    EXPECT_NE(why.find("need a size"), std::string::npos) << text;
    EXPECT_NE(why.find(text), std::string::npos);
    EXPECT_EQ(n, 7) << text;
  }
}

} // namespace
