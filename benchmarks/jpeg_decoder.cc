// jpeg_decoder DIR [--pictures N] [--rounds N] [--crop N]: measures the decoder of common JPEGs over the files of DIR,
// on one thread, in CPU time. Steps stand beside a bound, whole pictures and crops beside libjpeg-turbo. Crops are
// those of random-resized-crop, or squares of so many pixels.
#include <time.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "benchmarks/jpeg_files.h"
#include "benchmarks/jpeg_loop_decoder.h"
#include "benchmarks/random_box.h"
#include "core/error.h"
#include "core/philox.h"
#include "kernels/vision/codecs/jpeg/own/blocks.h"
#include "kernels/vision/codecs/jpeg/own/crop_decoder.h"
#include "kernels/vision/codecs/jpeg/own/entry_points.h"
#include "kernels/vision/codecs/jpeg/own/huffman_tables.h"
#include "kernels/vision/codecs/jpeg/own/inverse_dct.h"
#include "kernels/vision/codecs/jpeg/own/sample_rows.h"
#include "kernels/vision/codecs/jpeg/own/scan_bytes.h"
#include "kernels/vision/codecs/jpeg/own/sequential_jpeg.h"

namespace headrace {
namespace {

using jpeg::BitWindow;
using jpeg::CoefficientTable;
using jpeg::ComponentCodes;
using jpeg::CropDecoder;
using jpeg::EntryPoints;
using jpeg::JpegComponent;
using jpeg::kBlockSize;
using jpeg::kCoefficients;
using jpeg::MeanTable;
using jpeg::ScanBytes;
using jpeg::SequentialJpeg;

constexpr int kFewestRounds = 7;
constexpr int kComponents = 3;
// Before a row's first sample, for its neighbour.
constexpr int64_t kMargin = 32;
// What a look-up may read after the bytes.
constexpr size_t kPadding = 64;

struct Picture {
  std::string path;
  std::vector<char> bytes;
  SequentialJpeg jpeg;
  Box box;
  std::string notes = {};  // of the entry points of all

  std::string_view view() const { return {bytes.data(), bytes.size() - kPadding}; }
};

// Colours, of which the chromas are sampled as often as the luma or half as often.
bool IsMeasured(const SequentialJpeg& jpeg) {
  if (jpeg.count != kComponents) return false;
  return std::all_of(jpeg.components.begin(), jpeg.components.end(), [&](const JpegComponent& component) {
    return component.width > 2 && jpeg.max_horizontal <= 2 * component.horizontal &&
           jpeg.max_vertical <= 2 * component.vertical;
  });
}

// The decoder's steps one after the other over the whole picture, whose results are kept between them.
class JpegSteps {
 public:
  // Reserves memory; the tables stay those of the last picture.
  void Begin(const SequentialJpeg& jpeg) {
    jpeg_ = &jpeg;
    blocks_ = 0;
    for (int i = 0; i < kComponents; ++i) {
      const JpegComponent& component = jpeg.components[i];
      Plane& plane = planes_[i];
      plane.blocks = jpeg.mcus_per_row() * component.horizontal;
      plane.block_rows = jpeg.mcu_rows() * component.vertical;
      plane.row_bytes = kMargin + plane.blocks * kBlockSize + jpeg::kRowSlack;
      blocks_ += plane.blocks * plane.block_rows;
      Grow(plane.coefficients, plane.block_rows * plane.RowCoefficients());
      Grow(plane.samples, plane.block_rows * kBlockSize * plane.row_bytes);
      Grow(plane.widened, 2 * plane.blocks * kBlockSize + 2 * jpeg::kRowSlack);
      Grow(sums_, plane.blocks * kBlockSize + 2 + jpeg::kRowSlack);
    }
    Grow(pixels_, jpeg.height * jpeg.width * kComponents);
  }

  bool MakeTables() {
    bool made = true;
    for (int i = 0; i < kComponents; ++i) {
      const JpegComponent& component = jpeg_->components[i];
      MeanTable& means = means_[component.means];
      CoefficientTable& others = others_[component.others];
      made = made && means.Make(jpeg_->means[component.means]) && others.Make(jpeg_->others[component.others]);
      if (made) others.MakePassed();
      codes_[i] = {&means, &others};
    }
    return made;
  }

  bool PassBlocks() {
    return ForBlocks([](const ComponentCodes& codes, BitWindow& window, int32_t& mean, Plane&, int64_t, int64_t) {
      return PassBlock(codes, window, mean);
    });
  }

  bool ReadBlocks() {
    for (Plane& plane : planes_) {
      const int64_t values = plane.block_rows * plane.RowCoefficients();
      std::memset(plane.coefficients.data(), 0, static_cast<size_t>(values) * sizeof(int16_t));
    }
    return ForBlocks([](const ComponentCodes& codes, BitWindow& window, int32_t& mean, Plane& plane, int64_t y,
                        int64_t x) { return ReadBlock(codes, window, mean, plane.Block(y, x)); });
  }

  void Transform() {
    for (int i = 0; i < kComponents; ++i) {
      Plane& plane = planes_[i];
      const int16_t* const quantization = jpeg_->quantization[jpeg_->components[i].quantization].data();
      for (int64_t y = 0; y < plane.block_rows; ++y) {
        jpeg::InverseDct(plane.Block(y, 0), plane.blocks, quantization, plane.Row(y * kBlockSize), plane.row_bytes);
      }
    }
  }

  void Color() {
    for (int i = 0; i < kComponents; ++i) ExtendRows(planes_[i], jpeg_->components[i]);
    for (int64_t y = 0; y < jpeg_->height; ++y) {
      jpeg::YccToRgb(RowOf(0, y), RowOf(1, y), RowOf(2, y), jpeg_->width,
                     pixels_.data() + y * jpeg_->width * kComponents);
    }
  }

  int64_t blocks() const { return blocks_; }
  const uint8_t* pixels() const { return pixels_.data(); }

 private:
  struct Plane {
    int64_t blocks = 0;  // of a row
    int64_t block_rows = 0;
    int64_t row_bytes = 0;
    std::vector<int16_t> coefficients;
    std::vector<uint8_t> samples;
    std::vector<uint8_t> widened;  // a row

    int64_t RowCoefficients() const { return (blocks + jpeg::kMostBlocksAtOnce) * kCoefficients; }
    int16_t* Block(int64_t y, int64_t x) { return coefficients.data() + y * RowCoefficients() + x * kCoefficients; }
    uint8_t* Row(int64_t y) { return samples.data() + y * row_bytes + kMargin; }
  };

  // Only grows: a vector resized for each picture would be cleared.
  template <class T>
  static void Grow(std::vector<T>& values, int64_t size) {
    if (values.size() < static_cast<size_t>(size)) values.resize(static_cast<size_t>(size));
  }

  // False: damaged.
  template <class Take>
  bool ForBlocks(const Take& take) {
    const auto* const bytes = reinterpret_cast<const uint8_t*>(jpeg_->bytes.data());
    BitWindow window;
    scan_.Begin(bytes + jpeg_->data, bytes + jpeg_->bytes.size(), window);
    std::array<int32_t, kComponents> means = {};
    const int64_t mcus_per_row = jpeg_->mcus_per_row();
    const int64_t mcus = mcus_per_row * jpeg_->mcu_rows();
    for (int64_t mcu = 0; mcu < mcus; ++mcu) {
      if (jpeg_->interval != 0 && mcu != 0 && mcu % jpeg_->interval == 0) {
        if (!scan_.PassRestart(static_cast<int>((mcu / jpeg_->interval - 1) % 8), window)) return false;
        means = {};
      }
      if (!TakeMcu(take, mcu / mcus_per_row, mcu % mcus_per_row, window, means)) return false;
    }
    return !scan_.Overran(window);
  }

  template <class Take>
  bool TakeMcu(const Take& take, int64_t y, int64_t x, BitWindow& window, std::array<int32_t, kComponents>& means) {
    for (int i = 0; i < kComponents; ++i) {
      const JpegComponent& component = jpeg_->components[i];
      for (int64_t block = 0; block < component.vertical * component.horizontal; ++block) {
        scan_.Prepare(window);
        const int64_t row = y * component.vertical + block / component.horizontal;
        const int64_t column = x * component.horizontal + block % component.horizontal;
        if (!take(codes_[i], window, means[i], planes_[i], row, column)) return false;
      }
    }
    return true;
  }

  // Samples at an edge are their own neighbours.
  void ExtendRows(Plane& plane, const JpegComponent& component) const {
    if (component.horizontal == jpeg_->max_horizontal) return;
    for (int64_t y = 0; y < component.height; ++y) {
      uint8_t* const row = plane.Row(y);
      row[-1] = row[0];
      row[component.width] = row[component.width - 1];
    }
  }

  const uint8_t* RowOf(int number, int64_t y) {
    const JpegComponent& component = jpeg_->components[number];
    Plane& plane = planes_[number];
    const bool wide = component.horizontal != jpeg_->max_horizontal;
    const bool high = component.vertical != jpeg_->max_vertical;
    const int64_t at = high ? y / 2 : y;
    const bool above = y % 2 == 0;
    const uint8_t* const near = plane.Row(at);
    const uint8_t* const far = plane.Row(std::clamp<int64_t>(above ? at - 1 : at + 1, 0, component.height - 1));
    uint8_t* const to = plane.widened.data();
    if (wide) {
      jpeg::WidenRow(near, high ? far : nullptr, component.width, sums_.data(), to);
    } else if (high) {
      jpeg::BlendRows(near, far, above, component.width, to);
    } else {
      return near;
    }
    return to;
  }

  const SequentialJpeg* jpeg_ = nullptr;
  std::array<MeanTable, jpeg::kTables> means_;
  std::array<CoefficientTable, jpeg::kTables> others_;
  std::array<ComponentCodes, kComponents> codes_;
  std::array<Plane, kComponents> planes_;
  std::vector<int16_t> sums_;
  std::vector<uint8_t> pixels_;
  ScanBytes scan_;
  int64_t blocks_ = 0;
};

double CpuSeconds() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// CPU time by round.
class Timing {
 public:
  void BeginRound() { seconds_.push_back(0); }
  template <class Work>
  void Time(const Work& work) {
    const double begin = CpuSeconds();
    work();
    seconds_.back() += CpuSeconds() - begin;
  }
  const std::vector<double>& seconds() const { return seconds_; }

 private:
  std::vector<double> seconds_;
};

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

// The medians of what is measured and of its reference, and the median of the rounds' ratios.
void PrintLine(const char* name, const Timing& work, const char* reference_name, const Timing& reference,
               size_t pictures) {
  std::vector<double> ratios;
  for (size_t i = 0; i < work.seconds().size(); ++i) ratios.push_back(work.seconds()[i] / reference.seconds()[i]);
  const auto [least, most] = std::minmax_element(ratios.begin(), ratios.end());
  const double per_picture = 1e3 / static_cast<double>(pictures);
  std::printf("%-28s %7.4f ms, %-13s %7.4f ms, ratio %6.3f (%.3f to %.3f)\n", name,
              Median(work.seconds()) * per_picture, reference_name, Median(reference.seconds()) * per_picture,
              Median(ratios), *least, *most);
}

class JpegBenchmark {
 public:
  explicit JpegBenchmark(std::vector<Picture> pictures) : pictures_(std::move(pictures)) { one_code_.fill(kBitsOfOne); }

  absl::Status Check() {
    for (Picture& picture : pictures_) {
      HEADRACE_RETURN_IF_ERROR(CheckPicture(picture));
      HEADRACE_RETURN_IF_ERROR(NotePoints(picture));
    }
    return absl::OkStatus();
  }

  void Run(int rounds) {
    for (int round = 0; round < rounds; ++round) {
      for (Timing* timing : {&tables_, &table_copy_, &pass_, &read_, &look_ups_, &transform_, &transform_copy_, &color_,
                             &color_copy_, &crop_, &noting_crop_, &noted_crop_, &libjpeg_crop_}) {
        timing->BeginRound();
      }
      for (size_t i = 0; i < kScales.size(); ++i) {
        whole_[i].BeginRound();
        libjpeg_whole_[i].BeginRound();
      }
      for (size_t i = 0; i < pictures_.size(); ++i) {
        MeasureSteps(pictures_[i]);
        MeasurePixels(pictures_[i], pictures_[(i + 1) % pictures_.size()]);
      }
    }
  }

  void Print() const {
    const size_t n = pictures_.size();
    PrintLine("tables of a picture", tables_, "copy", table_copy_, n);
    PrintLine("passing all blocks", pass_, "look-ups", look_ups_, n);
    PrintLine("reading all blocks", read_, "look-ups", look_ups_, n);
    PrintLine("inverse DCT of all blocks", transform_, "copy", transform_copy_, n);
    PrintLine("upsampling and colours", color_, "copy", color_copy_, n);
    PrintLine("crops", crop_, "libjpeg-turbo", libjpeg_crop_, n);
    PrintLine("crops, noting entry points", noting_crop_, "libjpeg-turbo", libjpeg_crop_, n);
    PrintLine("crops from entry points", noted_crop_, "libjpeg-turbo", libjpeg_crop_, n);
    for (size_t i = 0; i < kScales.size(); ++i) {
      const std::string name = kScales[i] == 1 ? "whole pictures" : Cat("at 1/", kScales[i], " of their size");
      PrintLine(name.c_str(), whole_[i], "libjpeg-turbo", libjpeg_whole_[i], n);
    }
    size_t notes = 0;
    size_t bytes = 0;
    for (const Picture& picture : pictures_) {
      notes += picture.notes.size();
      bytes += picture.view().size();
    }
    std::printf("entry points of a picture take %zu of %zu bytes\n", notes / n, bytes / n);
  }

 private:
  static constexpr uint8_t kBitsOfOne = jpeg::kLookUpBits;
  static constexpr std::array<int, 4> kScales = {1, 2, 4, 8};

  absl::Status CheckPicture(const Picture& picture) {
    const SequentialJpeg& jpeg = picture.jpeg;
    const auto bytes = static_cast<size_t>(jpeg.height * jpeg.width * kComponents);
    steps_.Begin(jpeg);
    bool equal = steps_.MakeTables() && steps_.PassBlocks() && steps_.ReadBlocks();
    steps_.Transform();
    steps_.Color();
    Pixels pixels;
    equal = equal && DecodeByLibjpeg(picture, nullptr, 1, pixels);
    equal = equal && std::memcmp(pixels.data, steps_.pixels(), bytes) == 0;
    for (const int scale : kScales) {
      const Box all = WholeOf(jpeg, scale);
      const auto bytes_of_all = size_t{kComponents} * static_cast<size_t>(all.width) * static_cast<size_t>(all.height);
      equal = equal && DecodeByLibjpeg(picture, nullptr, scale, pixels);
      equal = equal && std::memcmp(pixels.data, DecodeOurs(picture, all, scale), bytes_of_all) == 0;
    }
    if (!equal) return InternalError("the pixels are not those of libjpeg-turbo: ", picture.path);
    return absl::OkStatus();
  }

  // By a crop of the last row, for which all data before it are passed over.
  absl::Status NotePoints(Picture& picture) {
    const SequentialJpeg& jpeg = picture.jpeg;
    const Box last = {0, static_cast<int>(jpeg.height) - 1, static_cast<int>(jpeg.width), 1};
    const uint8_t* const plain = DecodeOurs(picture, picture.box, 1);
    const auto bytes = static_cast<size_t>(kComponents) * static_cast<size_t>(picture.box.width) *
                       static_cast<size_t>(picture.box.height);
    const std::vector<uint8_t> expected(plain, plain + bytes);
    DecodeNoting(picture, last);
    picture.notes = points_.Notes();
    if (std::memcmp(DecodeNoting(picture, picture.box), expected.data(), bytes) == 0) return absl::OkStatus();
    return InternalError("the pixels differ with entry points: ", picture.path);
  }

  void MeasureSteps(const Picture& picture) {
    steps_.Begin(picture.jpeg);
    tables_.Time([&] { steps_.MakeTables(); });
    table_copy_.Time([&] { Copy(2 * (sizeof(MeanTable) + sizeof(CoefficientTable))); });
    pass_.Time([&] { steps_.PassBlocks(); });
    look_ups_.Time([&] { LookUp(picture); });
    read_.Time([&] { steps_.ReadBlocks(); });
    transform_.Time([&] { steps_.Transform(); });
    const int64_t samples = steps_.blocks() * kCoefficients;
    // A copy of n bytes reads and writes 2 n.
    transform_copy_.Time([&] { Copy(static_cast<size_t>(samples) * (sizeof(int16_t) + sizeof(uint8_t)) / 2); });
    color_.Time([&] { steps_.Color(); });
    const int64_t pixels = picture.jpeg.height * picture.jpeg.width;
    color_copy_.Time([&] { Copy(static_cast<size_t>(samples + pixels * kComponents) / 2); });
  }

  // Before each timing of our decoder it decodes the other picture, whose codes are others as a rule: tables are made
  // anew, as for a data set's next picture.
  void MeasurePixels(const Picture& picture, const Picture& other) {
    Pixels pixels;
    const auto change_codes = [&] { DecodeOurs(other, other.box, 1); };
    change_codes();
    crop_.Time([&] { DecodeOurs(picture, picture.box, 1); });
    change_codes();
    noting_crop_.Time([&] {
      DecodeNoting(picture, picture.box, "");
      points_.Notes();
    });
    change_codes();
    noted_crop_.Time([&] { DecodeNoting(picture, picture.box); });
    libjpeg_crop_.Time([&] { DecodeByLibjpeg(picture, &picture.box, 1, pixels); });
    for (size_t i = 0; i < kScales.size(); ++i) {
      const int scale = kScales[i];
      change_codes();
      whole_[i].Time([&] { DecodeOurs(picture, WholeOf(picture.jpeg, scale), scale); });
      libjpeg_whole_[i].Time([&] { DecodeByLibjpeg(picture, nullptr, scale, pixels); });
    }
  }

  static Box WholeOf(const SequentialJpeg& jpeg, int scale) {
    return {0, 0, static_cast<int>(jpeg::DividedUp(jpeg.width, scale)),
            static_cast<int>(jpeg::DividedUp(jpeg.height, scale))};
  }

  // With the markers, as libjpeg-turbo reads them.
  const uint8_t* DecodeOurs(const Picture& picture, const Box& box, int scale) {
    const std::optional<SequentialJpeg> jpeg = jpeg::FindSequentialJpeg(picture.view());
    const size_t bytes = size_t{kComponents} * static_cast<size_t>(box.width) * static_cast<size_t>(box.height);
    if (pixels_.size() < bytes) pixels_.resize(bytes);
    decoder_.Decode(*jpeg, {box.top, box.left, box.height, box.width, scale}, !jpeg->HasEndMarker(), pixels_.data());
    return pixels_.data();
  }

  // From the entry points that are noted.
  const uint8_t* DecodeNoting(const Picture& picture, const Box& box) {
    return DecodeNoting(picture, box, picture.notes);
  }
  const uint8_t* DecodeNoting(const Picture& picture, const Box& box, std::string_view notes) {
    const std::optional<SequentialJpeg> jpeg = jpeg::FindSequentialJpeg(picture.view());
    const size_t bytes = size_t{kComponents} * static_cast<size_t>(box.width) * static_cast<size_t>(box.height);
    if (pixels_.size() < bytes) pixels_.resize(bytes);
    points_.Begin(*jpeg, notes);
    decoder_.Decode(*jpeg, {box.top, box.left, box.height, box.width}, !jpeg->HasEndMarker(), pixels_.data(), &points_);
    return pixels_.data();
  }

  bool DecodeByLibjpeg(const Picture& picture, const Box* box, int scale, Pixels& pixels) {
    int width = 0;
    int height = 0;
    if (!libjpeg_.Begin(picture.view(), width, height, scale)) return false;
    return box != nullptr ? libjpeg_.DecodeBox(*box, pixels) : libjpeg_.DecodeAll(pixels);
  }

  void Copy(size_t bytes) {
    if (from_.size() < bytes) {
      from_.resize(bytes, 1);
      to_.resize(bytes);
    }
    std::memcpy(to_.data(), from_.data(), bytes);
    asm volatile("" : : "r"(to_.data()) : "memory");
  }

  // Each look-up says where the next bits begin, as it must where codes have many lengths.
  void LookUp(const Picture& picture) const {
    constexpr int kAFill = 56 / jpeg::kLookUpBits;
    BitWindow window;
    window.next = reinterpret_cast<const uint8_t*>(picture.bytes.data()) + picture.jpeg.data;
    const auto* const end = reinterpret_cast<const uint8_t*>(picture.bytes.data() + picture.view().size());
    while (window.next < end) {
      window.Fill();
      for (int i = 0; i < kAFill; ++i) window.Drop(one_code_[window.Peek(jpeg::kLookUpBits)]);
    }
    asm volatile("" : : "r"(window.bits));
  }

  std::vector<Picture> pictures_;
  JpegSteps steps_;
  CropDecoder decoder_;
  EntryPoints points_;
  JpegLoopDecoder libjpeg_;
  std::vector<uint8_t> pixels_;
  std::vector<uint8_t> from_;
  std::vector<uint8_t> to_;
  std::array<uint8_t, jpeg::kLookUps> one_code_;
  Timing tables_, table_copy_, pass_, read_, look_ups_, transform_, transform_copy_, color_, color_copy_;
  Timing crop_, noting_crop_, noted_crop_, libjpeg_crop_;
  std::array<Timing, kScales.size()> whole_, libjpeg_whole_;
};

// `side`: of a square; 0: as random-resized-crop draws it.
Box BoxOf(const SequentialJpeg& jpeg, int side, RowRandom& random) {
  const auto width = static_cast<int>(jpeg.width);
  const auto height = static_cast<int>(jpeg.height);
  if (side == 0) return RandomBox(width, height, random);
  const auto at = [&](int most) { return static_cast<int>(random.Below(static_cast<uint64_t>(most) + 1)); };
  const int across = std::min(side, width);
  const int down = std::min(side, height);
  return {.left = at(width - across), .top = at(height - down), .width = across, .height = down};
}

absl::StatusOr<std::vector<Picture>> ReadPictures(const std::string& folder, size_t most, int side) {
  HEADRACE_ASSIGN_OR_RETURN(const std::vector<std::string> files, JpegFiles(folder));
  RowRandom random(7, 0, {});
  std::vector<Picture> pictures;
  for (const std::string& file : files) {
    if (pictures.size() == most) break;
    Picture picture;
    picture.path = file;
    if (!ReadFile(file, picture.bytes)) return NotFoundError("cannot read ", file);
    picture.bytes.resize(picture.bytes.size() + kPadding);
    const std::optional<SequentialJpeg> jpeg = jpeg::FindSequentialJpeg(picture.view());
    if (!jpeg.has_value() || !IsMeasured(*jpeg)) continue;
    picture.jpeg = *jpeg;
    picture.box = BoxOf(*jpeg, side, random);
    pictures.push_back(std::move(picture));
  }
  if (pictures.empty()) return NotFoundError(folder, " holds no JPEG that the decoder takes");
  return pictures;
}

struct Options {
  std::string folder;
  int pictures = 200;
  int rounds = 9;
  int crop = 0;  // side of a square
};

std::optional<Options> ReadOptions(int argc, char** argv) {
  if (argc < 2 || argc % 2 != 0) return std::nullopt;
  Options options{.folder = argv[1]};
  for (int i = 2; i < argc; i += 2) {
    const std::string_view name = argv[i];
    const std::string_view value = argv[i + 1];
    if (name != "--pictures" && name != "--rounds" && name != "--crop") return std::nullopt;
    int& number = name == "--rounds" ? options.rounds : name == "--crop" ? options.crop : options.pictures;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    if (error != std::errc() || end != value.data() + value.size()) return std::nullopt;
  }
  if (options.rounds < kFewestRounds || options.pictures < 1 || options.crop < 0) return std::nullopt;
  return options;
}

absl::Status Measure(const Options& options) {
  HEADRACE_ASSIGN_OR_RETURN(std::vector<Picture> pictures,
                            ReadPictures(options.folder, static_cast<size_t>(options.pictures), options.crop));
  std::printf("CPU time a picture, medians of %d rounds over %zu pictures\n", options.rounds, pictures.size());
  const auto benchmark = std::make_unique<JpegBenchmark>(std::move(pictures));
  HEADRACE_RETURN_IF_ERROR(benchmark->Check());
  benchmark->Run(options.rounds);
  benchmark->Print();
  return absl::OkStatus();
}

}  // namespace
}  // namespace headrace

int main(int argc, char** argv) {
  const std::optional<headrace::Options> options = headrace::ReadOptions(argc, argv);
  if (!options.has_value()) {
    std::cerr << "usage: jpeg_decoder DIR [--pictures 200] [--rounds 9] [--crop 0], at least 7 rounds\n";
    return 2;
  }
  const absl::Status status = headrace::Measure(*options);
  if (!status.ok()) std::cerr << headrace::DescribeError(status) << "\n";
  return status.ok() ? 0 : 1;
}
