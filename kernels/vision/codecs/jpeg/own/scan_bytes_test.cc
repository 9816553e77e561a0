// Entropy-coded data of any length with stuffed bytes and markers, read in steps of any size.
#include "kernels/vision/codecs/jpeg/own/scan_bytes.h"

#include <algorithm>
#include <string>

#include "core/philox.h"
#include "core/testing/rounds.h"
#include "core/text.h"
#include "gtest/gtest.h"

namespace headrace::jpeg {
namespace {

const uint64_t kScans = Rounds(300, {.quick = 60, .sanitized = 60});

const uint8_t* FirstOf(const std::string& bytes) { return reinterpret_cast<const uint8_t*>(bytes.data()); }

// Drops `bytes` of whole bytes and compares them.
void ExpectBytes(ScanBytes& scan, BitWindow& window, std::string_view bytes) {
  for (size_t i = 0; i < bytes.size(); ++i) {
    if (i % 200 == 0) scan.Prepare(window);
    window.Fill();
    ASSERT_EQ(window.Peek(8), static_cast<uint8_t>(bytes[i])) << "byte " << i;
    window.Drop(8);
  }
}

TEST(ScanBytes, GivesTheDataWithoutStuffedZeros) {
  for (uint64_t round = 0; round < kScans; ++round) {
    SCOPED_TRACE(Cat("round ", round));
    RowRandom random(37, 0, {.key = round});
    std::string stuffed;
    std::string plain;
    const uint64_t length = random.Below(2) == 0 ? random.Below(50) : random.Below(20'000);
    for (uint64_t i = 0; i < length; ++i) {
      const char byte = random.Below(10) == 0 ? '\xFF' : static_cast<char>(random.Below(256));
      plain += byte;
      stuffed += byte;
      if (byte == '\xFF') stuffed += '\0';
    }
    if (random.Below(2) == 0) stuffed += "\xFF\xD9 more";
    ScanBytes scan;
    BitWindow window;
    scan.Begin(FirstOf(stuffed), FirstOf(stuffed) + stuffed.size(), window);
    ExpectBytes(scan, window, plain);
    scan.Prepare(window);
    EXPECT_FALSE(scan.Overran(window));
    ExpectBytes(scan, window, std::string(1000, '\0'));
    EXPECT_TRUE(scan.Overran(window));
    if (HasFailure()) return;
  }
}

TEST(ScanBytes, BeginsAgainAtAnyPlaceThatItNames) {
  for (uint64_t round = 0; round < kScans; ++round) {
    SCOPED_TRACE(Cat("round ", round));
    RowRandom random(38, 0, {.key = round});
    std::string bytes;
    const uint64_t length = 1 + (random.Below(2) == 0 ? random.Below(50) : random.Below(20'000));
    for (uint64_t i = 0; i < length; ++i) {
      bytes += random.Below(5) == 0 ? '\xFF' : static_cast<char>(random.Below(255));
      if (bytes.back() == '\xFF') bytes += '\0';
    }
    bytes += "\xFF\xD0";
    const uint8_t* const end = FirstOf(bytes) + bytes.size();
    ScanBytes scan;
    BitWindow window;
    scan.Begin(FirstOf(bytes), end, window);
    for (uint64_t left = length * 8; left > 0;) {
      scan.Prepare(window);
      window.Fill();
      const int dropped = static_cast<int>(random.Below(std::min<uint64_t>(left, 32) + 1));
      window.Drop(dropped);
      left -= static_cast<uint64_t>(dropped);
      if (random.Below(20) != 0) continue;
      const ScanBytes::Place place = scan.PlaceOf(window);
      ScanBytes other;
      BitWindow there;
      other.BeginAt(place.byte, place.bit, end, there);
      for (int i = 0; i < 40; ++i) {
        other.Prepare(there);
        there.Fill();
        scan.Prepare(window);
        window.Fill();
        ASSERT_EQ(there.Peek(32), window.Peek(32)) << left << " bits before the end";
        const int next = static_cast<int>(std::min<uint64_t>(left, 24));
        there.Drop(next);
        window.Drop(next);
        left -= static_cast<uint64_t>(next);
      }
    }
    const ScanBytes::Place last = scan.PlaceOf(window);
    EXPECT_EQ(last.byte - FirstOf(bytes), static_cast<ptrdiff_t>(bytes.size()) - 2);
    EXPECT_EQ(last.bit, 0);
    EXPECT_TRUE(scan.PassRestart(0, window));
  }
}

TEST(ScanBytes, GoesOnBehindTheRestartMarkerThatIsDue) {
  const std::string bytes =
      "ab\xFF\xD3"
      "cd\xFF\xD4"
      "ef\xFF\xD9";
  ScanBytes scan;
  BitWindow window;
  scan.Begin(FirstOf(bytes), FirstOf(bytes) + bytes.size(), window);
  EXPECT_FALSE(scan.PassRestart(3, window));
  ExpectBytes(scan, window, "a");
  scan.Prepare(window);
  window.Fill();
  // Less than a byte is left over.
  window.Drop(1);
  EXPECT_FALSE(scan.PassRestart(4, window));
  ASSERT_TRUE(scan.PassRestart(3, window));
  ExpectBytes(scan, window, "cd");
  ASSERT_TRUE(scan.PassRestart(4, window));
  ExpectBytes(scan, window, "ef");
  EXPECT_FALSE(scan.PassRestart(5, window));
}

}  // namespace
}  // namespace headrace::jpeg
