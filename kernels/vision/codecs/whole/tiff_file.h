// `TiffFile` opens a TIFF in memory with libtiff, and keeps what libtiff says of missing pixels. Use it for every
// access to libtiff.
// Threads: an object belongs to one thread.
#ifndef HEADRACE_KERNELS_VISION_CODECS_WHOLE_TIFF_FILE_H_
#define HEADRACE_KERNELS_VISION_CODECS_WHOLE_TIFF_FILE_H_

#include <cstdarg>
#include <cstdint>
#include <memory>
#include <string_view>

#include "absl/status/status.h"
#include "kernels/vision/codecs/whole/tiff_library.h"

namespace headrace {

class TiffFile {
 public:
  // The library and the bytes must outlive it.
  TiffFile(const TiffLibrary& library, std::string_view bytes);
  TiffFile(const TiffFile&) = delete;

  bool is_open() const { return tiff_ != nullptr; }
  TIFF* get() const { return tiff_.get(); }
  const TiffLibrary& library() const { return library_; }
  std::string_view bytes() const { return source_.bytes; }

  // The number of the first image's tag, or its default.
  template <typename Number>
  Number Field(uint32_t tag, Number none) const {
    Number number = none;
    return library_.GetFieldDefaulted(tiff_.get(), tag, &number) != 0 ? number : none;
  }

  // Forgets what libtiff said of the header: it goes on where a tag is wrong.
  void BeginPixels();
  // Whether it said since then that pixels are missing or invented, which it does not always call a failure.
  bool lost_pixels() const { return source_.lost_pixels; }
  absl::Status Failed(std::string_view where) const;

 private:
  // The bytes as libtiff's file, and the first that it says.
  struct Source {
    std::string_view bytes;
    toff_t at = 0;
    bool lost_pixels = false;
    char message[160] = "";
  };
  using OpenTiff = std::unique_ptr<TIFF, decltype(TiffLibrary::Close)>;

  static OpenTiff Open(const TiffLibrary& library, Source& source);
  static void Note(Source& source, const char* format, va_list arguments);
  static int NoteError(TIFF* tiff, void* user, const char* module, const char* format, va_list arguments);
  static int NoteWarning(TIFF* tiff, void* user, const char* module, const char* format, va_list arguments);
  static tmsize_t Read(thandle_t handle, void* target, tmsize_t count);
  static toff_t Seek(thandle_t handle, toff_t offset, int whence);
  static toff_t Size(thandle_t handle);
  static int Map(thandle_t handle, void** base, toff_t* size);

  const TiffLibrary& library_;
  Source source_;
  const OpenTiff tiff_;
};

}  // namespace headrace

#endif  // HEADRACE_KERNELS_VISION_CODECS_WHOLE_TIFF_FILE_H_
