// `MarkerReader` reads the markers of a JPEG (ITU-T T.81) one after the other, with the segments that follow them and
// nothing between; `FrameHeader` and `ScanHeader` are what two of the segments say. Which JPEGs are wanted is for
// others to decide. Threads: an object belongs to one thread.
#ifndef HEADRACE_KERNELS_VISION_CODECS_JPEG_OWN_MARKER_READER_H_
#define HEADRACE_KERNELS_VISION_CODECS_JPEG_OWN_MARKER_READER_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace headrace::jpeg {

inline constexpr int kCoefficients = 64;  // of a block
inline constexpr int kTables = 4;         // of each kind

// The second byte of a marker.
enum Marker : uint8_t {
  kBaseline = 0xC0,
  kExtended = 0xC1,
  kProgressive = 0xC2,
  kHuffmanTables = 0xC4,
  kFirstRestart = 0xD0,
  kLastRestart = 0xD7,
  kBegin = 0xD8,
  kEnd = 0xD9,
  kScan = 0xDA,
  kQuantizationTables = 0xDB,
  kRestartInterval = 0xDD,
  kFirstApplication = 0xE0,
  kExif = 0xE1,
  kAdobe = 0xEE,
  kLastApplication = 0xEF,
  kComment = 0xFE,
};

// Whether decoders may ignore the marker's segment.
constexpr bool IsRemark(uint8_t marker) {
  return marker == kComment || (marker >= kFirstApplication && marker <= kLastApplication);
}

constexpr int64_t DividedUp(int64_t a, int64_t b) { return (a + b - 1) / b; }

// The rest of a segment. Reads beyond its end give zeros and are remembered.
class Segment {
 public:
  explicit Segment(std::string_view bytes) : bytes_(bytes) {}

  int Byte();
  int Word();
  void Skip(int count);

  bool empty() const { return bytes_.empty(); }
  std::string_view rest() const { return bytes_; }
  bool EndsHere() const { return bytes_.empty() && !short_; }

 private:
  std::string_view bytes_;
  bool short_ = false;
};

// A frame of 8 bits with 1 or 3 components.
struct FrameHeader {
  struct Component {
    int id = 0;
    int horizontal = 0;  // sampling factors
    int vertical = 0;
    int quantization = 0;
  };
  int height = 0;
  int width = 0;
  int count = 0;  // of components
  std::array<Component, 3> components = {};

  // Whether the components' names say that they are red, green and blue.
  bool HasColoursAsIds() const;
  // The first component of that name; -1: none.
  int IndexOf(int id) const;
};

// A scan of at most 3 components.
struct ScanHeader {
  std::array<int, 3> ids = {};
  std::array<int, 3> means = {};   // tables of mean values
  std::array<int, 3> others = {};  // of the other coefficients
  int count = 0;                   // of components
  int first = 0;                   // coefficients
  int last = 0;
  int high = 0;  // bits that are missing before the scan, and after it
  int low = 0;

  // Whether it brings all bits of all coefficients.
  bool IsSequential() const { return first == 0 && last == kCoefficients - 1 && high == 0 && low == 0; }
};

// Nullopt: another frame or scan, without a pixel or a component, or not of the segment's length.
std::optional<FrameHeader> ReadFrameHeader(Segment segment);
std::optional<ScanHeader> ReadScanHeader(Segment segment);

class MarkerReader {
 public:
  explicit MarkerReader(std::string_view bytes) : bytes_(bytes) {}

  // Nullopt: no marker comes next.
  std::optional<uint8_t> NextMarker();
  // What follows a marker other than those of begin, end and restart. Nullopt: it does not end within the bytes.
  std::optional<Segment> NextSegment();
  // Moves to the marker after entropy-coded data and returns the number of restart markers among them. Nullopt: they
  // are not in order, or no other marker follows.
  std::optional<int64_t> PassData();

  size_t at() const { return at_; }
  std::string_view bytes() const { return bytes_; }

 private:
  std::string_view bytes_;
  size_t at_ = 0;
};

}  // namespace headrace::jpeg

#endif  // HEADRACE_KERNELS_VISION_CODECS_JPEG_OWN_MARKER_READER_H_
