#include "kernels/vision/codecs/whole/tiff_file.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>

#include "core/error.h"

namespace headrace {
namespace {

// What libtiff may take at once, as for the packed bytes of a strip.
constexpr tmsize_t kMostForLibtiff = tmsize_t{1} << 30;

// Warnings after which libtiff, or libjpeg within it, reports success though pixels were not written or were made up.
// Others say what loses no pixel: stray bytes, a strip that holds more than it needs, an end mark that is missing.
constexpr std::array<std::string_view, 6> kPixelsLost = {"Improper JPEG strip/tile size",
                                                         "Corrupt JPEG data: ",
                                                         "Inconsistent progression sequence",
                                                         "Only decoded ",
                                                         "Premature EO",
                                                         "Terminating PackBitsDecode"};

bool SaysPixelsLost(std::string_view warning) {
  if (warning.find("extraneous bytes") != std::string_view::npos) return false;
  return std::any_of(kPixelsLost.begin(), kPixelsLost.end(),
                     [warning](std::string_view begin) { return warning.starts_with(begin); });
}

}  // namespace

TiffFile::TiffFile(const TiffLibrary& library, std::string_view bytes)
    : library_(library), source_{bytes}, tiff_(Open(library, source_)) {}

void TiffFile::BeginPixels() {
  source_.message[0] = '\0';
  source_.lost_pixels = false;
}

absl::Status TiffFile::Failed(std::string_view where) const {
  return DataError("the TIFF is damaged or ends early", source_.message[0] != '\0' ? ": " : "", source_.message, where);
}

TiffFile::OpenTiff TiffFile::Open(const TiffLibrary& library, Source& source) {
  const std::unique_ptr<TIFFOpenOptions, decltype(TiffLibrary::OpenOptionsFree)> options(library.OpenOptionsAlloc(),
                                                                                         library.OpenOptionsFree);
  if (options == nullptr) return {nullptr, library.Close};
  library.OpenOptionsSetMaxSingleMemAlloc(options.get(), kMostForLibtiff);
  library.OpenOptionsSetErrorHandlerExtR(options.get(), NoteError, &source);
  library.OpenOptionsSetWarningHandlerExtR(options.get(), NoteWarning, &source);
  const auto write_nothing = [](thandle_t, void*, tmsize_t) -> tmsize_t { return 0; };
  const auto close = [](thandle_t) { return 0; };
  const auto unmap = [](thandle_t, void*, toff_t) {};
  return {
      library.ClientOpenExt("image", "r", &source, Read, write_nothing, Seek, close, Size, Map, unmap, options.get()),
      library.Close};
}

void TiffFile::Note(Source& source, const char* format, va_list arguments) {
  source.lost_pixels = true;
  if (source.message[0] == '\0') std::vsnprintf(source.message, sizeof(source.message), format, arguments);
}

int TiffFile::NoteError(TIFF*, void* user, const char*, const char* format, va_list arguments) {
  Note(*static_cast<Source*>(user), format, arguments);
  return 1;
}

int TiffFile::NoteWarning(TIFF*, void* user, const char*, const char* format, va_list arguments) {
  char warning[sizeof(Source::message)];
  va_list again;
  va_copy(again, arguments);
  std::vsnprintf(warning, sizeof(warning), format, again);
  va_end(again);
  if (SaysPixelsLost(warning)) Note(*static_cast<Source*>(user), format, arguments);
  return 1;
}

tmsize_t TiffFile::Read(thandle_t handle, void* target, tmsize_t count) {
  Source& source = *static_cast<Source*>(handle);
  if (count <= 0 || source.at >= source.bytes.size()) return 0;
  const size_t given = std::min(static_cast<size_t>(count), source.bytes.size() - source.at);
  std::memcpy(target, source.bytes.data() + source.at, given);
  source.at += given;
  return static_cast<tmsize_t>(given);
}

toff_t TiffFile::Seek(thandle_t handle, toff_t offset, int whence) {
  Source& source = *static_cast<Source*>(handle);
  const toff_t base = whence == SEEK_CUR ? source.at : whence == SEEK_END ? source.bytes.size() : 0;
  return source.at = base + offset;
}

toff_t TiffFile::Size(thandle_t handle) { return static_cast<Source*>(handle)->bytes.size(); }

int TiffFile::Map(thandle_t handle, void** base, toff_t* size) {
  const std::string_view bytes = static_cast<Source*>(handle)->bytes;
  // It only reads there.
  *base = const_cast<char*>(bytes.data());
  *size = bytes.size();
  return 1;
}

}  // namespace headrace
