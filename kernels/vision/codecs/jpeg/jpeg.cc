#include "kernels/vision/codecs/jpeg/jpeg.h"

#include <algorithm>
#include <csetjmp>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>

// clang-format off
#include <jpeglib.h>  // needs size_t and FILE from above
#include <jerror.h>   // numbers its messages by what jpeglib.h says of the library
// clang-format on

#include "core/error.h"
#include "core/memory_reservation.h"
#include "core/stop_signal.h"
#include "core/work_counts.h"
#include "kernels/vision/codecs/exif.h"
#include "kernels/vision/codecs/jpeg/block_bits.h"
#include "kernels/vision/codecs/jpeg/own_jpeg.h"
#include "kernels/vision/codecs/jpeg/plain_jpeg.h"
#include "kernels/vision/image/pixel_limit.h"

namespace headrace {
namespace {

// Blocks that all scans of a file may visit, per byte: the image of one colour that compresses best needs about ten
// scans at eight blocks per byte. In any case scans may visit the image's blocks kPasses times.
constexpr int64_t kBlocksPerByte = 128;
constexpr int64_t kPasses = 16;
// Arithmetic coding compresses one colour to almost nothing: images of up to this many blocks may have any number of
// bytes.
constexpr int64_t kArithmeticBlocks = 1 << 18;
constexpr int kJpegRowsAtOnce = 16;
// Pixels of the unscaled image that are skipped before the stop signal is checked again.
constexpr int64_t kPixelsSkippedAtOnce = 1 << 23;
constexpr int kExifMarker = JPEG_APP0 + 1;

// The reason why the work ended early, other than a fault in the data.
enum class Ending { kFault, kStopped, kNoMemory };

// libjpeg reports errors by longjmp. So no C++ object with a destructor lives in a function that calls setjmp, and
// this struct holds plain data only.
struct JpegSession {
  jpeg_decompress_struct libjpeg;
  jpeg_error_mgr errors;
  jpeg_progress_mgr progress;
  std::jmp_buf jump;
  Ending ending;
  bool ended_early;
  bool damaged;
  bool strict;          // damage ends the work
  bool scans;           // an image of several scans is being read, all of them before the first row
  unsigned scanned;     // a bit for each component that had a scan
  int64_t blocks;       // visited by scans
  int64_t most_blocks;  // that scans may visit
  char message[JMSG_LENGTH_MAX];
  char damage[JMSG_LENGTH_MAX];  // the first fault
};

JpegSession& SessionOfJpeg(j_common_ptr libjpeg) { return *static_cast<JpegSession*>(libjpeg->client_data); }

[[noreturn]] void StopJpeg(j_common_ptr libjpeg) {
  JpegSession& session = SessionOfJpeg(libjpeg);
  if (libjpeg->err->msg_code == JERR_OUT_OF_MEMORY) session.ending = Ending::kNoMemory;
  (*libjpeg->err->format_message)(libjpeg, session.message);
  std::longjmp(session.jump, 1);
}

[[noreturn]] void StopFor(JpegSession& session, Ending ending, const char* message) {
  session.ending = ending;
  std::snprintf(session.message, sizeof(session.message), "%s", message);
  std::longjmp(session.jump, 1);
}

void NoteDamage(j_common_ptr libjpeg) {
  JpegSession& session = SessionOfJpeg(libjpeg);
  if (!session.damaged) (*libjpeg->err->format_message)(libjpeg, session.damage);
  session.damaged = true;
  if (session.strict) StopJpeg(libjpeg);
}

bool InScan(const jpeg_decompress_struct& libjpeg) { return libjpeg.input_iMCU_row < libjpeg.total_iMCU_rows; }

// After some faults in the data libjpeg continues with invented pixels: those are damage. Others, such as stray bytes
// between segments or odd headers, lose nothing and are ignored.
void Warn(j_common_ptr common, int level) {
  if (level >= 0) return;
  const auto& libjpeg = *reinterpret_cast<jpeg_decompress_struct*>(common);
  switch (common->err->msg_code) {
    case JWRN_HIT_MARKER:
    case JWRN_HUFF_BAD_CODE:
    case JWRN_ARITH_BAD_CODE:
    case JWRN_MUST_RESYNC:
    case JWRN_BOGUS_PROGRESSION:
      NoteDamage(common);
      break;
    case JWRN_JPEG_EOF:
      SessionOfJpeg(common).ended_early = true;
      // Arithmetic data that end early are decoded as if zeros followed, without a further warning.
      if (libjpeg.arith_code && InScan(libjpeg)) NoteDamage(common);
      break;
    default:
      break;
  }
}

// The blocks of the next row of MCUs that the scan will visit.
int64_t BlocksOfRow(const jpeg_decompress_struct& libjpeg) {
  const int64_t rows = libjpeg.comps_in_scan == 1 ? libjpeg.cur_comp_info[0]->v_samp_factor : 1;
  return rows * libjpeg.MCUs_per_row * libjpeg.blocks_in_MCU;
}

void CountScan(JpegSession& session) {
  const jpeg_decompress_struct& libjpeg = session.libjpeg;
  if (!InScan(libjpeg)) return;
  for (int i = 0; i < libjpeg.comps_in_scan; ++i) session.scanned |= 1u << libjpeg.cur_comp_info[i]->component_index;
  session.blocks += BlocksOfRow(libjpeg);
  if (session.blocks > session.most_blocks) {
    StopFor(session, Ending::kFault, "its scans are more work than an image of so many bytes needs");
  }
}

// Called by libjpeg before each row of MCUs of a scan, and before rows are returned.
void Watch(j_common_ptr common) {
  JpegSession& session = SessionOfJpeg(common);
  if (StopSignal::Raised()) StopFor(session, Ending::kStopped, "stopped");
  if (session.scans) CountScan(session);
}

// Also computes the size of the decoded image.
bool ReadHeader(JpegSession& session, std::string_view bytes, bool keep_exif, int scale) {
  if (setjmp(session.jump) != 0) return false;
  jpeg_create_decompress(&session.libjpeg);
  session.libjpeg.client_data = &session;
  session.libjpeg.progress = &session.progress;
  jpeg_mem_src(&session.libjpeg, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
  if (keep_exif) jpeg_save_markers(&session.libjpeg, kExifMarker, 0xFFFF);
  jpeg_read_header(&session.libjpeg, TRUE);
  session.libjpeg.scale_denom = session.libjpeg.scale_num * static_cast<unsigned>(scale);
  jpeg_calc_output_dimensions(&session.libjpeg);
  return true;
}

// The blocks of all components, without those that only pad the last row and column of MCUs.
int64_t BlocksOf(const jpeg_decompress_struct& header) {
  int64_t blocks = 0;
  for (int i = 0; i < header.num_components; ++i) {
    const jpeg_component_info& component = header.comp_info[i];
    blocks += int64_t{component.width_in_blocks} * component.height_in_blocks;
  }
  return blocks;
}

// Refuses an image that cannot be in so few bytes, before memory is allocated for it.
absl::Status CheckBytes(const jpeg_decompress_struct& header, size_t bytes) {
  const int64_t blocks = BlocksOf(header);
  if (header.arith_code && blocks <= kArithmeticBlocks) return absl::OkStatus();
  const int64_t fewest_bits = FewestBits(blocks, header.progressive_mode != FALSE);
  if (HoldsBits(bytes, fewest_bits)) return absl::OkStatus();
  return DataError("the JPEG has ", bytes, " bytes, which cannot hold its ", header.image_width, " × ",
                   header.image_height, " pixels: they take ", (fewest_bits + 7) / 8, " at least");
}

// libjpeg keeps the coefficients of an image of several scans, two bytes each.
int64_t CoefficientBytes(const jpeg_decompress_struct& header) {
  const auto rounded = [](int64_t count, int64_t multiple) { return (count + multiple - 1) / multiple * multiple; };
  int64_t bytes = 0;
  for (int i = 0; i < header.num_components; ++i) {
    const jpeg_component_info& component = header.comp_info[i];
    bytes += rounded(component.width_in_blocks, component.h_samp_factor) *
             rounded(component.height_in_blocks, component.v_samp_factor) * static_cast<int64_t>(sizeof(JBLOCK));
  }
  return bytes;
}

// Converts libjpeg's rows to the tensor's if libjpeg cannot do it.
using ConvertRow = void (*)(const uint8_t* from, int64_t width, uint8_t* to);

void CmykToGrey(const uint8_t* from, int64_t width, uint8_t* to) {
  for (int64_t i = 0; i < width; ++i) {
    uint8_t rgb[3];
    InvertedCmykToRgbRow(from + i * 4, 1, rgb);
    to[i] = Luma(rgb);
  }
}
void CmykToRgb(const uint8_t* from, int64_t width, uint8_t* to) { InvertedCmykToRgbRow(from, width, to); }
void RgbToGrey(const uint8_t* from, int64_t width, uint8_t* to) { LumaRow(from, width, 3, to); }

struct Plan {
  J_COLOR_SPACE space = JCS_RGB;
  int channels = 3;
  ConvertRow convert = nullptr;
};

bool MakePlan(const jpeg_decompress_struct& header, PixelMode mode, Plan& plan) {
  switch (header.num_components) {
    case 1:
      if (mode != PixelMode::kRgb) plan = {JCS_GRAYSCALE, 1, nullptr};
      return true;
    case 3:
      if (mode == PixelMode::kGrey) plan = {JCS_RGB, 1, RgbToGrey};
      return true;
    case 4:
      plan = {JCS_CMYK, 3, CmykToRgb};
      if (mode == PixelMode::kGrey) plan = {JCS_CMYK, 1, CmykToGrey};
      return true;
    default:
      return false;
  }
}

struct Columns {
  JDIMENSION left;
  JDIMENSION width;
};

// Whether libjpeg gives single columns the same pixels as in whole rows. After skipping columns it assumes that every
// component is as many samples wide as its sampling factor says, which is wrong if the scaled transform made it larger
// but not as large as the image.
bool ColumnsCanGo(const jpeg_decompress_struct& header) {
  for (int i = 0; i < header.num_components; ++i) {
    const jpeg_component_info& component = header.comp_info[i];
    const int size = component.DCT_scaled_size;
    const int smallest = header.min_DCT_scaled_size;
    const bool upsampled = component.h_samp_factor * size != header.max_h_samp_factor * smallest ||
                           component.v_samp_factor * size != header.max_v_samp_factor * smallest;
    if (upsampled && size != smallest) return false;
  }
  return true;
}

// The columns to request from libjpeg. Smooth upsampling of a column reads its neighbours: with one more on each side
// the part's own are exact. If a component has hardly any samples per row, libjpeg upsamples in another way, so each
// gets at least two.
Columns ColumnsFor(const jpeg_decompress_struct& header, const Window& part) {
  const int64_t image_width = header.output_width;
  if (!ColumnsCanGo(header)) return {0, header.output_width};
  const int64_t fewest = int64_t{2} * header.max_h_samp_factor;
  const int64_t left = std::max<int64_t>(std::min(part.left - 1, image_width - fewest), 0);
  const int64_t right = std::min(std::max(part.left + part.width + 1, left + fewest), image_width);
  return {static_cast<JDIMENSION>(left), static_cast<JDIMENSION>(right - left)};
}

// Reads the tables and, for an image of several scans, all scans.
bool Begin(JpegSession& session, const Plan& plan) {
  if (setjmp(session.jump) != 0) return false;
  session.libjpeg.out_color_space = plan.space;
  session.scans = jpeg_has_multiple_scans(&session.libjpeg) != FALSE;
  jpeg_start_decompress(&session.libjpeg);
  session.scans = false;
  return true;
}

// Skips the pixels above and beside the part. `held` becomes the range of the returned rows: libjpeg skips columns only
// by whole blocks.
bool MoveTo(JpegSession& session, const Window& part, Window& held) {
  if (setjmp(session.jump) != 0) return false;
  jpeg_decompress_struct& libjpeg = session.libjpeg;
  const Columns columns = ColumnsFor(libjpeg, part);
  JDIMENSION left = columns.left;
  JDIMENSION width = columns.width;
  if (width < libjpeg.output_width) jpeg_crop_scanline(&libjpeg, &left, &width);
  const JDIMENSION top = static_cast<JDIMENSION>(part.top);
  const int64_t pixels_a_row = int64_t{libjpeg.image_width} * DCTSIZE / libjpeg.min_DCT_scaled_size;
  const auto at_once = static_cast<JDIMENSION>(std::max<int64_t>(kPixelsSkippedAtOnce / pixels_a_row, 64));
  while (libjpeg.output_scanline < top) {
    if (StopSignal::Raised()) StopFor(session, Ending::kStopped, "stopped");
    const JDIMENSION rows = top - libjpeg.output_scanline;
    jpeg_skip_scanlines(&libjpeg, rows < at_once ? rows : at_once);
  }
  held.top = part.top;
  held.left = left;
  held.height = part.height;
  held.width = libjpeg.output_width;
  return true;
}

bool ReadRows(JpegSession& session, const Plan& plan, const Window& held, uint8_t* pixels) {
  if (setjmp(session.jump) != 0) return false;
  jpeg_decompress_struct& libjpeg = session.libjpeg;
  const size_t row_bytes = static_cast<size_t>(held.width) * plan.channels;
  JSAMPARRAY scratch = nullptr;
  if (plan.convert != nullptr) {
    scratch = (*libjpeg.mem->alloc_sarray)(reinterpret_cast<j_common_ptr>(&libjpeg), JPOOL_IMAGE,
                                           libjpeg.output_width * libjpeg.output_components, 1);
  }
  const JDIMENSION begin = static_cast<JDIMENSION>(held.top);
  const JDIMENSION end = begin + static_cast<JDIMENSION>(held.height);
  while (libjpeg.output_scanline < end) {
    uint8_t* target = pixels + (libjpeg.output_scanline - begin) * row_bytes;
    if (plan.convert != nullptr) {
      jpeg_read_scanlines(&libjpeg, scratch, 1);
      plan.convert(scratch[0], held.width, target);
      continue;
    }
    JSAMPROW rows[kJpegRowsAtOnce];
    const JDIMENSION left = end - libjpeg.output_scanline;
    const JDIMENSION count = left < kJpegRowsAtOnce ? left : kJpegRowsAtOnce;
    for (JDIMENSION i = 0; i < count; ++i) rows[i] = target + i * row_bytes;
    jpeg_read_scanlines(&libjpeg, rows, count);
  }
  return true;
}

int OrientationOf(const jpeg_decompress_struct& header) {
  for (const jpeg_marker_struct* marker = header.marker_list; marker != nullptr; marker = marker->next) {
    if (marker->marker != kExifMarker) continue;
    const std::string_view data(reinterpret_cast<const char*>(marker->data), marker->data_length);
    if (data.starts_with(kExifHeader)) return ExifOrientation(data.substr(kExifHeader.size()));
  }
  return 1;
}

// The scans that are present in an image of several.
struct Scans {
  bool first = true;  // every component has its first
  bool all = true;    // every coefficient is known to its last bit
};

Scans ScansOf(const JpegSession& session) {
  const jpeg_decompress_struct& libjpeg = session.libjpeg;
  Scans scans;
  for (int i = 0; i < libjpeg.num_components; ++i) {
    if (!libjpeg.progressive_mode) {
      scans.first &= (session.scanned >> i & 1) != 0;
      continue;
    }
    const int* bits = libjpeg.coef_bits[i];
    scans.first &= bits[0] >= 0;
    scans.all &= std::all_of(bits, bits + DCTSIZE2, [](int missing) { return missing == 0; });
  }
  return scans;
}

// The part of the image that `rows` are, which lie at `held`.
absl::StatusOr<DecodedPart> PartOf(const Tensor& rows, const Window& held, const Window& part) {
  HEADRACE_ASSIGN_OR_RETURN(const Image image, ImageOf(rows, PixelTypes::kByteOrFloat));
  return DecodedPart{Cropped(image, part.top - held.top, part.left - held.left, part.height, part.width), part};
}

class JpegReader {
 public:
  // `device` may be null.
  JpegReader(std::string_view bytes, JpegDevice* device) : bytes_(bytes), device_(device) {
    session_ = {};
    session_.libjpeg.err = jpeg_std_error(&session_.errors);
    session_.libjpeg.client_data = &session_;
    session_.errors.error_exit = StopJpeg;
    session_.errors.emit_message = Warn;
    session_.errors.output_message = [](j_common_ptr) {};
    session_.progress.progress_monitor = Watch;
  }
  ~JpegReader() { jpeg_destroy_decompress(&session_.libjpeg); }
  JpegReader(const JpegReader&) = delete;

  absl::StatusOr<DecodedPart> Read(const DecodeOptions& options, const ChoosePart& choose) {
    if (!ReadHeader(session_, bytes_, options.orientation, options.scale)) return Failed(" (in its header)");
    const jpeg_decompress_struct& header = session_.libjpeg;
    HEADRACE_RETURN_IF_ERROR(CheckPixelLimit(header.image_width, header.image_height, options.max_pixels));
    HEADRACE_RETURN_IF_ERROR(CheckBytes(header, bytes_.size()));
    const Window whole = {0, 0, header.output_height, header.output_width};
    Plan plan;
    if (!MakePlan(header, options.mode, plan)) {
      return DataError("the JPEG has ", header.num_components, " channels; those of 1, 3 or 4 can be decoded");
    }
    // Read before libjpeg's own memory is freed.
    const int orientation = options.orientation ? OrientationOf(header) : 1;
    if (orientation != 1) return Turned(plan, whole, orientation, choose);
    HEADRACE_ASSIGN_OR_RETURN(const WantedPart part, choose(whole.height, whole.width));
    OutputAllocator intermediate;
    return ReadPart(plan, whole, part.window, part.output != nullptr ? *part.output : intermediate);
  }

  // Whether the device decoded it.
  bool on_device() const { return on_device_; }
  std::string damage() const { return session_.damaged ? session_.damage : ""; }

 private:
  absl::StatusOr<DecodedPart> ReadPart(const Plan& plan, const Window& whole, const Window& part,
                                       OutputAllocator& output) {
    if (device_ != nullptr) {
      HEADRACE_ASSIGN_OR_RETURN(const std::optional<DecodedPart> read, ReadOnDevice(plan, part, output));
      on_device_ = read.has_value();
      if (on_device_) return *read;
    }
    const jpeg_decompress_struct& libjpeg = session_.libjpeg;
    const bool several = jpeg_has_multiple_scans(&session_.libjpeg) != FALSE;
    const MemoryReservation coefficients(several ? CoefficientBytes(libjpeg) : 0);
    session_.most_blocks = std::max(kBlocksPerByte * static_cast<int64_t>(bytes_.size()), kPasses * BlocksOf(libjpeg));
    bool complete = several || HasEndMarker();
    session_.strict = !complete;
    if (!Begin(session_, plan)) return Failed("");
    Scans scans;
    if (several) {
      scans = ScansOf(session_);
      complete = !session_.ended_early;
      if (!complete && (session_.damaged || !scans.first || !scans.all)) return EndsEarly("");
      if (!scans.first) return DataError("the JPEG lacks the first scan of a component");
    }
    Window held;
    // If scans are missing, libjpeg smooths blocks, which reads neighbours beyond a part.
    if (!MoveTo(session_, complete && scans.all ? part : whole, held)) return Failed("");
    HEADRACE_ASSIGN_OR_RETURN(Tensor rows, output.Allocate(DType::kUInt8, {held.height, held.width, plan.channels}));
    if (!ReadRows(session_, plan, held, rows.mutable_raw())) return Failed("");
    return PartOf(rows, held, part);
  }

  // Nullopt: libjpeg must decode it.
  absl::StatusOr<std::optional<DecodedPart>> ReadOnDevice(const Plan& plan, const Window& part,
                                                          OutputAllocator& output) {
    const std::optional<PlainJpeg> jpeg = FindPlainJpeg(bytes_);
    if (!jpeg.has_value()) return std::nullopt;
    const Window held = {part.top, 0, part.height, jpeg->width};
    HEADRACE_ASSIGN_OR_RETURN(Tensor rows, output.Allocate(DType::kUInt8, {held.height, held.width, plan.channels}));
    Tensor given = rows;
    if (jpeg->components != plan.channels) {
      HEADRACE_ASSIGN_OR_RETURN(given, Tensor::Allocate(DType::kUInt8, {held.height, held.width, jpeg->components}));
    }
    const MemoryReservation coefficients(CoefficientBytes(session_.libjpeg));
    HEADRACE_ASSIGN_OR_RETURN(const bool read, device_->Decode(*jpeg, {held.top, held.height}, given.mutable_raw()));
    if (!read) return std::nullopt;
    const int64_t pixels = held.height * held.width;
    if (jpeg->components < plan.channels) GreyRowToRgb(given.raw(), pixels, rows.mutable_raw());
    if (jpeg->components > plan.channels) RgbToGrey(given.raw(), pixels, rows.mutable_raw());
    return PartOf(rows, held, part);
  }

  // Whether libjpeg meets the end marker before the end of the bytes while it reads the one scan: it skips no two bytes
  // that look like a marker.
  bool HasEndMarker() const {
    const std::string_view scan = bytes_.substr(bytes_.size() - session_.libjpeg.src->bytes_in_buffer);
    return scan.rfind("\xFF\xD9") != std::string_view::npos;
  }

  absl::StatusOr<DecodedPart> Turned(const Plan& plan, const Window& whole, int orientation, const ChoosePart& choose) {
    OutputAllocator intermediate;
    HEADRACE_ASSIGN_OR_RETURN(const DecodedPart all, ReadPart(plan, whole, whole, intermediate));
    const bool swapped = SwapsAxes(orientation);
    HEADRACE_ASSIGN_OR_RETURN(const WantedPart part,
                              choose(swapped ? whole.width : whole.height, swapped ? whole.height : whole.width));
    OutputAllocator& output = part.output != nullptr ? *part.output : intermediate;
    HEADRACE_ASSIGN_OR_RETURN(const Tensor turned, Oriented(all.image.tensor, orientation, output));
    HEADRACE_ASSIGN_OR_RETURN(const Image image, ImageOf(turned, PixelTypes::kByteOrFloat));
    return DecodedPart{image, {0, 0, image.height, image.width}};
  }

  absl::Status Failed(std::string_view where) const {
    if (session_.ending == Ending::kStopped) return StopSignal::Error();
    if (session_.ending == Ending::kNoMemory) return ResourceError("no memory to decode the JPEG");
    if (!where.empty()) return DataError("the JPEG cannot be read: ", session_.message, where);
    const jpeg_decompress_struct& header = session_.libjpeg;
    const std::string at =
        Cat(" (at row ", header.output_scanline, " of ", header.output_height, ": ", session_.message, ")");
    return session_.strict ? EndsEarly(at) : DataError("the JPEG is damaged", at);
  }

  static absl::Status EndsEarly(std::string_view at) {
    return DataError("the JPEG ends early: the file is truncated", at);
  }

  const std::string_view bytes_;
  JpegDevice* const device_;
  bool on_device_ = false;
  JpegSession session_;
};

}  // namespace

bool LooksLikeJpeg(std::string_view bytes) { return bytes.starts_with("\xFF\xD8\xFF"); }

absl::StatusOr<DecodedPart> DecodeJpeg(std::string_view bytes, const DecodeOptions& options, const ChoosePart& choose,
                                       std::string& damage, const JpegDecoders& decoders) {
  // Asked once, whoever decodes.
  std::optional<WantedPart> wanted;
  const auto choose_once = [&](int64_t height, int64_t width) -> absl::StatusOr<WantedPart> {
    if (!wanted.has_value()) {
      HEADRACE_ASSIGN_OR_RETURN(wanted, choose(height, width));
    }
    return *wanted;
  };
  if (decoders.own && decoders.device == nullptr) {
    HEADRACE_ASSIGN_OR_RETURN(std::optional<DecodedPart> part, DecodeOwnJpeg(bytes, options, choose_once));
    if (part.has_value()) {
      WorkCounts::Add("JPEGs by Headrace's decoder");
      return *std::move(part);
    }
  }
  JpegReader reader(bytes, decoders.device);
  absl::StatusOr<DecodedPart> part = reader.Read(options, choose_once);
  damage = reader.damage();
  if (part.ok()) WorkCounts::Add(reader.on_device() ? "JPEGs by nvJPEG" : "JPEGs by libjpeg-turbo");
  return part;
}

}  // namespace headrace
