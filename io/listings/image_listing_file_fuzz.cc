// Fuzzes the payload of a listing, after a valid header: it is refused, or all paths of the listing lead down.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/hash.h"
#include "core/testing/require.h"
#include "core/text.h"
#include "io/files/testing/one_file.h"
#include "io/files/testing/temporary_folder.h"
#include "io/listings/image_listing.h"

namespace {

using headrace::ImageListing;

constexpr size_t kHead = 28;  // magic, version, bytes, hash
constexpr size_t kOptions = 8;

// The head, and the hash of the options, of a current listing.
std::string Head() {
  const headrace::TemporaryFolder folder;
  folder.Write("photos/cat/1.jpg");
  const auto listing = ImageListing::Make(*headrace::LocalFileSystem(), folder / "photos", {});
  const bool saved = listing.ok() && listing->Save(*headrace::LocalFileSystem(), folder / "saved").ok();
  const auto bytes = headrace::LocalFileSystem()->Read(folder / "saved");
  headrace::Require(saved && bytes.ok(), "a listing is saved");
  return std::string(bytes->bytes_value().substr(0, kHead + kOptions));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const std::string head = Head();
  std::string bytes = head;
  bytes.append(reinterpret_cast<const char*>(data), size);
  const uint64_t payload = bytes.size() - kHead;
  const uint64_t hash = headrace::HashBytes(std::string_view(bytes).substr(kHead));
  bytes.replace(12, 8, reinterpret_cast<const char*>(&payload), 8);
  bytes.replace(20, 8, reinterpret_cast<const char*>(&hash), 8);
  const auto listing = ImageListing::Load(headrace::OneFile(std::move(bytes)), "saved", "photos", {});
  if (!listing.ok()) return 0;
  for (int64_t i = 0; i < listing->size(); ++i) {
    const std::string path = headrace::Cat("/", listing->RelativePath(i), "/");
    headrace::Require(path.find("/../") == std::string::npos && path.find('\0') == std::string::npos,
                      "a path leads down");
    listing->label(i);
    listing->file_size(i);
  }
  return 0;
}
