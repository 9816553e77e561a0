// The file format of a listing, all numbers little-endian:
//   magic (8 bytes), version (u32), payload bytes (u64), hash of the payload (u64), payload:
//   options hash, fingerprint, classes, images, bytes of paths (u64 each);
//   per class: label (i32), bytes of its name (u32), end (u64), name;
//   per image: end of its path (u64); per image: bytes of its file (i64);
//   the paths, relative to their class's folder.
// Every value of a payload is checked before use: no path leads out of the folder.
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "core/byte_pieces.h"
#include "core/error.h"
#include "core/hash.h"
#include "io/listings/image_listing.h"

namespace headrace {
namespace {

constexpr std::string_view kMagic("\x89HRLIST\n", 8);
constexpr uint32_t kVersion = 2;
constexpr size_t kHeaderBytes = 8 + 4 + 8 + 8;

template <typename T>
void Put(std::string& text, T value) {
  text.append(reinterpret_cast<const char*>(&value), sizeof(T));
}

absl::Status Damaged(const std::string& path, std::string_view how) {
  return DataError(path, " is a damaged listing (", how, "): delete it and list the folder again");
}

// The payload, if header and hash are correct.
absl::StatusOr<std::string_view> CheckedPayload(const std::string& path, std::string_view bytes) {
  if (bytes.substr(0, kMagic.size()) != kMagic) {
    return DataError(path, " is not a listing that Headrace saved: give the path of one, or of a new file");
  }
  BytePieces header(bytes.substr(kMagic.size()));
  const auto version = header.TakeNumber<uint32_t>();
  const auto payload_bytes = header.TakeNumber<uint64_t>();
  const auto hash = header.TakeNumber<uint64_t>();
  if (!header.whole()) return Damaged(path, "its header is cut off");
  if (version != kVersion) {
    return UnsupportedError(path, " is a listing of version ", version, ", and this Headrace reads version ", kVersion,
                            ": delete it and list the folder again");
  }
  const std::string_view payload = bytes.substr(kHeaderBytes);
  if (payload.size() != payload_bytes) {
    return Damaged(path, Cat("it should have ", payload_bytes, " bytes after its header, but has ", payload.size()));
  }
  if (HashBytes(payload) != hash) return Damaged(path, "its checksum does not match");
  return payload;
}

bool HasNul(std::string_view text) { return text.find('\0') != std::string_view::npos; }

bool IsFolderName(std::string_view name) {
  return !name.empty() && name != "." && name != ".." && name.find('/') == std::string_view::npos && !HasNul(name);
}

// Whether a part of the path is "..".
bool LeadsUp(std::string_view path) {
  while (true) {
    const size_t slash = path.find('/');
    if (path.substr(0, slash) == "..") return true;
    if (slash == std::string_view::npos) return false;
    path.remove_prefix(slash + 1);
  }
}

// Whether all paths lead from their class's folder down.
bool StayBelow(const PathArena& paths) {
  if (HasNul(paths.text())) return false;
  // Avoids checking each path of most listings.
  if (paths.text().find("..") == std::string_view::npos) return true;
  for (int64_t i = 0; i < paths.size(); ++i) {
    if (LeadsUp(paths[i])) return false;
  }
  return true;
}

}  // namespace

uint64_t ImageListing::OptionsHash(const ImageListingOptions& options) {
  uint64_t hash = 1;
  for (const std::string& extension : options.extensions) hash = HashBytes(extension, hash);
  for (const auto& [name, label] : options.class_map) hash = HashBytes(Cat(label, " ", name), hash);
  return hash;
}

absl::Status ImageListing::Save(const FileSystem& files, const std::string& path) const {
  std::string payload;
  payload.reserve(paths_.text().size() + 16 * paths_.size() + 64 * classes_.size() + 64);
  Put(payload, options_hash_);
  Put(payload, fingerprint_);
  Put(payload, uint64_t{classes_.size()});
  Put(payload, static_cast<uint64_t>(paths_.size()));
  Put(payload, uint64_t{paths_.text().size()});
  for (const ImageClass& owner : classes_) {
    Put(payload, owner.label);
    Put(payload, static_cast<uint32_t>(owner.name.size()));
    Put(payload, static_cast<uint64_t>(owner.end));
    payload.append(owner.name);
  }
  payload.append(reinterpret_cast<const char*>(paths_.ends().data()), 8 * paths_.ends().size());
  payload.append(reinterpret_cast<const char*>(sizes_.data()), 8 * sizes_.size());
  payload.append(paths_.text());
  std::string header(kMagic);
  Put(header, kVersion);
  Put(header, uint64_t{payload.size()});
  Put(header, HashBytes(payload));
  return files.Write(path, {header, payload});
}

absl::StatusOr<ImageListing> ImageListing::Load(const FileSystem& files, const std::string& path,
                                                const std::string& folder, const ImageListingOptions& options) {
  HEADRACE_ASSIGN_OR_RETURN(const Tensor bytes, files.Read(path));
  HEADRACE_ASSIGN_OR_RETURN(const std::string_view payload, CheckedPayload(path, bytes.bytes_value()));
  BytePieces pieces(payload);
  ImageListing listing;
  listing.folder_ = folder;
  listing.options_hash_ = pieces.TakeNumber<uint64_t>();
  listing.fingerprint_ = pieces.TakeNumber<uint64_t>();
  const auto classes = pieces.TakeNumber<uint64_t>();
  const auto images = pieces.TakeNumber<uint64_t>();
  const auto text_bytes = pieces.TakeNumber<uint64_t>();
  int64_t begin = 0;
  for (uint64_t i = 0; i < classes && pieces.whole(); ++i) {
    ImageClass owner;
    owner.label = pieces.TakeNumber<int32_t>();
    const auto name_bytes = pieces.TakeNumber<uint32_t>();
    owner.begin = begin;
    owner.end = pieces.TakeNumber<int64_t>();
    owner.name = pieces.Take(name_bytes);
    if (!IsFolderName(owner.name) || owner.end < begin) return Damaged(path, Cat("class ", i, " is not one"));
    begin = owner.end;
    listing.classes_.push_back(std::move(owner));
  }
  // Divides, because a product could wrap.
  if (!pieces.whole() || images > pieces.left() / 16) return Damaged(path, "its counts do not fit its length");
  std::vector<uint64_t> ends(images);
  const std::string_view ends_bytes = pieces.Take(8 * images);
  if (images > 0) std::memcpy(ends.data(), ends_bytes.data(), ends_bytes.size());
  listing.sizes_.resize(images);
  const std::string_view sizes_bytes = pieces.Take(8 * images);
  if (images > 0) std::memcpy(listing.sizes_.data(), sizes_bytes.data(), sizes_bytes.size());
  std::string text(pieces.Take(text_bytes));
  auto paths = PathArena::FromParts(std::move(ends), std::move(text));
  if (!pieces.whole() || pieces.left() > 0 || !paths || begin != paths->size()) {
    return Damaged(path, "its counts do not fit together");
  }
  if (!StayBelow(*paths)) return Damaged(path, "it holds a path that leads out of its folder, or a NUL");
  if (listing.options_hash_ != OptionsHash(options)) {
    return GraphError(path,
                      " was listed with other extensions or another class map: delete it and list the folder again, or "
                      "name another file");
  }
  listing.paths_ = *std::move(paths);
  return listing;
}

}  // namespace headrace
