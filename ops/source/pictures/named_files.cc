#include "ops/source/pictures/named_files.h"

#include <unordered_set>
#include <utility>

#include "core/error.h"
#include "core/hash.h"
#include "core/seeded_hash.h"
#include "core/text.h"
#include "io/files/far_of.h"
#include "io/listings/kept_by_files.h"

namespace headrace {
namespace {

// Keeps sizes until a folder of theirs changes, as listings are kept: there may be millions.
KeptByFiles<std::vector<int64_t>>& KeptSizes() {
  static auto* const kept = new KeptByFiles<std::vector<int64_t>>;
  return *kept;
}

std::string PathIn(const std::string& root, std::string_view path) {
  return root.empty() || !RootOf(path).empty() ? std::string(path) : JoinPath(root, path);
}

}  // namespace

NamedFiles::NamedFiles(const FileSystem* files, Names names)
    : WholeFiles(files), files_(files), names_(std::move(names)) {}

absl::StatusOr<std::unique_ptr<NamedFiles>> NamedFiles::Make(const FileSystem* files, Names names) {
  std::unique_ptr<NamedFiles> made(new NamedFiles(files, std::move(names)));
  if (made->size() > 0 && FarOf(*files, made->PathOf(0)) != nullptr) {
    // What is known without a request need not be kept, and folders of a far store do not tell a change.
    HEADRACE_ASSIGN_OR_RETURN(Sizes sizes, made->Measure());
    made->sizes_ = std::make_shared<const Sizes>(std::move(sizes));
    return made;
  }
  HEADRACE_ASSIGN_OR_RETURN(made->sizes_, KeptSizes().Get(*files, made->names_.key, made->FilesOfSizes(),
                                                          [&made] { return made->Measure(); }));
  return made;
}

uint64_t NamedFiles::HashOfSizes() const {
  return HashBytes({reinterpret_cast<const char*>(sizes_->data()), sizes_->size() * sizeof(int64_t)});
}

std::string NamedFiles::PathOf(uint64_t file) const { return PathIn(names_.root, names_.path(file)); }

std::string NamedFiles::NameOf(uint64_t file) const {
  return names_.rows ? Cat(PathOf(file), ", row ", file, " of the table") : PathOf(file);
}

void NamedFiles::NoteChange() const { KeptSizes().Forget(*files_, names_.key); }

absl::StatusOr<NamedFiles::Sizes> NamedFiles::Measure() const {
  Sizes sizes;
  sizes.reserve(names_.count);
  for (size_t i = 0; i < names_.count; ++i) {
    HEADRACE_ASSIGN_OR_RETURN(const int64_t size, SizeOf(PathOf(i)));
    sizes.push_back(size);
  }
  return sizes;
}

absl::StatusOr<int64_t> NamedFiles::SizeOf(const std::string& path) const {
  // Also where a listing has it by chance: the sizes are part of fingerprints.
  if (FarOf(*files_, path) != nullptr) return kNotAsked;
  const absl::StatusOr<FileStat> stat = files_->Stat(path);
  if (!stat.ok() && KindOf(stat.status()) == ErrorKind::kClosed) return stat.status();
  return stat.ok() ? stat->size : -1;
}

std::vector<std::string> NamedFiles::FilesOfSizes() const {
  std::unordered_set<std::string_view, SeededHash> seen;
  std::vector<std::string> paths;
  if (!names_.listing.empty()) paths.push_back(names_.listing);
  for (size_t i = 0; i < names_.count; ++i) {
    const std::string_view path = names_.path(i);
    const size_t slash = path.rfind('/');
    const std::string_view folder = path.substr(0, slash == path.npos ? 0 : slash + 1);
    if (seen.insert(folder).second) paths.push_back(PathIn(names_.root, Cat(folder, ".")));
  }
  return paths;
}

}  // namespace headrace
