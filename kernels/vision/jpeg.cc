#include "kernels/vision/jpeg.h"

#include <algorithm>
#include <csetjmp>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>

// clang-format off
#include <jpeglib.h>  // needs size_t and FILE from above
#include <jerror.h>   // numbers its messages by what jpeglib.h says of the library
// clang-format on

#include "core/error.h"
#include "kernels/vision/exif.h"
#include "kernels/vision/pixel_limit.h"

namespace headrace {
namespace {

constexpr int kMostScans = 500;  // a progressive picture has about ten; each costs a pass over all pixels
constexpr int kRowsAtOnce = 16;
constexpr int kExifMarker = JPEG_APP0 + 1;

// libjpeg reports errors by longjmp. So no C++ object with a destructor lives in a function that calls setjmp, and
// this struct holds plain data only.
struct Session {
  jpeg_decompress_struct libjpeg;
  jpeg_error_mgr errors;
  jpeg_progress_mgr progress;
  std::jmp_buf jump;
  bool ended_early;
  bool many_scans;
  char message[JMSG_LENGTH_MAX];
};

Session& SessionOf(j_common_ptr libjpeg) { return *static_cast<Session*>(libjpeg->client_data); }

void Stop(j_common_ptr libjpeg) {
  Session& session = SessionOf(libjpeg);
  (*libjpeg->err->format_message)(libjpeg, session.message);
  std::longjmp(session.jump, 1);
}

// Warnings. libjpeg goes on with made-up pixels after some faults in the data; those that lose pixels are errors here:
// compressed data that end before their picture, codes that do not exist, restart markers out of place. Others, such as
// stray bytes between segments or odd headers, lose nothing and are ignored. A file without its last marker alone is
// whole too, unless more scans could have followed (checked at the end).
void Warn(j_common_ptr libjpeg, int level) {
  if (level >= 0) return;
  switch (libjpeg->err->msg_code) {
    case JWRN_HIT_MARKER:
    case JWRN_HUFF_BAD_CODE:
    case JWRN_ARITH_BAD_CODE:
    case JWRN_MUST_RESYNC:
      Stop(libjpeg);
      break;
    case JWRN_JPEG_EOF:
      SessionOf(libjpeg).ended_early = true;
      break;
    default:
      break;
  }
}

void LimitScans(j_common_ptr libjpeg) {
  const auto* decompress = reinterpret_cast<jpeg_decompress_struct*>(libjpeg);
  if (decompress->input_scan_number <= kMostScans) return;
  Session& session = SessionOf(libjpeg);
  std::snprintf(session.message, sizeof(session.message), "more than %d scans", kMostScans);
  std::longjmp(session.jump, 1);
}

// Computes also the size of what decoding gives.
bool ReadHeader(Session& session, std::string_view bytes, bool keep_exif, int scale) {
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

// Turns libjpeg's rows into the tensor's where libjpeg cannot itself.
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

// The columns to ask libjpeg for. Smooth upsampling of a column takes its neighbours: with one more on each side the
// part's own are exact. Where hardly any column is left, libjpeg upsamples in another way, so it gets a few at least.
Columns ColumnsFor(const Window& part, int64_t image_width) {
  constexpr int64_t kFewest = 4;
  const int64_t left = std::max<int64_t>(std::min(part.left - 1, image_width - kFewest), 0);
  const int64_t right = std::min(std::max(part.left + part.width + 1, left + kFewest), image_width);
  return {static_cast<JDIMENSION>(left), static_cast<JDIMENSION>(right - left)};
}

// Begins to decode and leaves out what lies above and beside the part. `held` becomes what the rows will hold: libjpeg
// cuts columns off by whole blocks alone.
bool BeginPart(Session& session, const Plan& plan, const Window& part, Window& held) {
  if (setjmp(session.jump) != 0) return false;
  jpeg_decompress_struct& libjpeg = session.libjpeg;
  libjpeg.out_color_space = plan.space;
  session.many_scans = jpeg_has_multiple_scans(&libjpeg) != FALSE;
  jpeg_start_decompress(&libjpeg);
  const JDIMENSION image_width = libjpeg.output_width;
  const Columns columns = ColumnsFor(part, image_width);
  JDIMENSION left = columns.left;
  JDIMENSION width = columns.width;
  if (width < image_width) jpeg_crop_scanline(&libjpeg, &left, &width);
  if (part.top > 0) jpeg_skip_scanlines(&libjpeg, static_cast<JDIMENSION>(part.top));
  held.top = part.top;
  held.left = left;
  held.height = part.height;
  held.width = libjpeg.output_width;
  return true;
}

bool ReadRows(Session& session, const Plan& plan, const Window& held, uint8_t* pixels) {
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
    JSAMPROW rows[kRowsAtOnce];
    const JDIMENSION left = end - libjpeg.output_scanline;
    const JDIMENSION count = left < kRowsAtOnce ? left : kRowsAtOnce;
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

class JpegReader {
 public:
  JpegReader() {
    session_.libjpeg = {};
    session_.libjpeg.err = jpeg_std_error(&session_.errors);
    session_.libjpeg.client_data = &session_;
    session_.errors.error_exit = Stop;
    session_.errors.emit_message = Warn;
    session_.errors.output_message = [](j_common_ptr) {};
    session_.progress = {};
    session_.progress.progress_monitor = LimitScans;
    session_.ended_early = false;
    session_.many_scans = false;
    session_.message[0] = '\0';
  }
  ~JpegReader() { jpeg_destroy_decompress(&session_.libjpeg); }
  JpegReader(const JpegReader&) = delete;

  absl::StatusOr<PicturePart> Read(std::string_view bytes, const DecodeOptions& options, const ChoosePart& choose) {
    if (!ReadHeader(session_, bytes, options.orientation, options.scale)) {
      return DataError("the JPEG cannot be read: ", session_.message, " (in its header)");
    }
    const jpeg_decompress_struct& header = session_.libjpeg;
    HEADRACE_RETURN_IF_ERROR(CheckPixelLimit(header.image_width, header.image_height, options.max_pixels));
    const Window whole = {0, 0, header.output_height, header.output_width};
    Plan plan;
    if (!MakePlan(header, options.mode, plan)) {
      return DataError("the JPEG has ", header.num_components, " channels; those of 1, 3 or 4 can be decoded");
    }
    // Taken before libjpeg's own memory goes.
    const int orientation = options.orientation ? OrientationOf(header) : 1;
    if (orientation != 1) return Turned(plan, whole, orientation, choose);
    HEADRACE_ASSIGN_OR_RETURN(const Window part, choose(whole.height, whole.width));
    return ReadPart(plan, part);
  }

 private:
  absl::StatusOr<PicturePart> ReadPart(const Plan& plan, const Window& part) {
    Window held;
    if (!BeginPart(session_, plan, part, held)) return Damaged();
    HEADRACE_ASSIGN_OR_RETURN(Tensor rows, Tensor::Allocate(DType::kUInt8, {held.height, held.width, plan.channels}));
    if (!ReadRows(session_, plan, held, rows.mutable_raw())) return Damaged();
    if (session_.ended_early && session_.many_scans) {
      return DataError("the JPEG ends early, before its last scan: the file is truncated");
    }
    HEADRACE_ASSIGN_OR_RETURN(const Image image, ImageOf(rows, PixelTypes::kByteOrFloat));
    return PicturePart{Cropped(image, 0, part.left - held.left, part.height, part.width), part};
  }

  absl::StatusOr<PicturePart> Turned(const Plan& plan, const Window& whole, int orientation, const ChoosePart& choose) {
    HEADRACE_ASSIGN_OR_RETURN(const PicturePart all, ReadPart(plan, whole));
    HEADRACE_ASSIGN_OR_RETURN(const Tensor turned, Oriented(all.image.tensor, orientation));
    HEADRACE_ASSIGN_OR_RETURN(const Image image, ImageOf(turned, PixelTypes::kByteOrFloat));
    HEADRACE_RETURN_IF_ERROR(choose(image.height, image.width).status());
    return PicturePart{image, {0, 0, image.height, image.width}};
  }

  absl::Status Damaged() const {
    const jpeg_decompress_struct& header = session_.libjpeg;
    const std::string where =
        Cat(" (at row ", header.output_scanline, " of ", header.output_height, ": ", session_.message, ")");
    if (session_.ended_early) return DataError("the JPEG ends early: the file is truncated", where);
    return DataError("the JPEG is damaged", where);
  }

  Session session_;
};

}  // namespace

bool LooksLikeJpeg(std::string_view bytes) { return bytes.starts_with("\xFF\xD8\xFF"); }

absl::StatusOr<PicturePart> DecodeJpeg(std::string_view bytes, const DecodeOptions& options, const ChoosePart& choose) {
  JpegReader reader;
  return reader.Read(bytes, options, choose);
}

}  // namespace headrace
