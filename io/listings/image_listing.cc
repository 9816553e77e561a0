#include "io/listings/image_listing.h"

#include <algorithm>
#include <atomic>
#include <future>
#include <map>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/hash.h"
#include "core/interrupt.h"
#include "core/row_id.h"
#include "io/files/far_files.h"
#include "io/files/far_glob.h"
#include "io/files/followed_links.h"
#include "io/files/plainly_missing.h"

namespace headrace {
namespace {

constexpr size_t kMostNamed = 5;  // the most names in a message

// Files and folders of editors and systems: .ipynb_checkpoints, ._photo.jpg.
bool IsHidden(std::string_view name) { return name.front() == '.'; }

// One class folder's images in byte order, found by one worker.
struct ClassImages {
  PathArena paths;
  std::vector<int64_t> sizes;
  std::vector<uint64_t> versions;  // empty: none is known
  uint64_t hash = 0;
  std::map<std::string, int64_t> others;  // skipped files by extension
  std::vector<FolderVersion> folders;
  absl::Status status;
};

struct Found {
  uint64_t begin;
  uint64_t end;
  int64_t size;
};

char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool EndsWithAnyCase(std::string_view name, std::string_view lower_end) {
  if (name.size() < lower_end.size()) return false;
  const std::string_view end = name.substr(name.size() - lower_end.size());
  return std::equal(end.begin(), end.end(), lower_end.begin(), [](char a, char b) { return Lower(a) == b; });
}

absl::StatusOr<std::vector<std::string>> NormalExtensions(const std::vector<std::string>& extensions) {
  if (extensions.empty()) return GraphError("extensions is empty: name at least one, such as '.jpg'");
  std::vector<std::string> normal;
  for (const std::string& extension : extensions) {
    HEADRACE_RETURN_IF_ERROR(CheckNoNul("the extension", extension));
    if (extension.empty() || extension == "." || extension.find('/') != std::string::npos) {
      return GraphError("'", extension, "' is no file extension: write it as '.jpg'");
    }
    std::string text = extension.front() == '.' ? "" : ".";
    for (const char c : extension) text.push_back(Lower(c));
    normal.push_back(std::move(text));
  }
  std::sort(normal.begin(), normal.end());
  normal.erase(std::unique(normal.begin(), normal.end()), normal.end());
  return normal;
}

std::string Join(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) Append(text, text.empty() ? "" : ", ", part);
  return text;
}

bool IsImage(std::string_view name, const std::vector<std::string>& extensions) {
  return std::any_of(extensions.begin(), extensions.end(),
                     [name](const std::string& extension) { return EndsWithAnyCase(name, extension); });
}

std::string ExtensionOf(std::string_view name) {
  const size_t dot = name.find_last_of('.');
  return dot == std::string_view::npos || dot == 0 ? "no extension" : std::string(name.substr(dot));
}

// "3 .webp, 1 .txt"; the most frequent first.
std::string DescribeOthers(const std::map<std::string, int64_t>& others) {
  std::vector<std::pair<int64_t, std::string>> counts;
  for (const auto& [extension, count] : others) counts.emplace_back(-count, extension);
  std::sort(counts.begin(), counts.end());
  std::vector<std::string> parts;
  for (size_t i = 0; i < std::min(counts.size(), kMostNamed); ++i) {
    parts.push_back(Cat(-counts[i].first, " ", counts[i].second));
  }
  if (counts.size() > kMostNamed) parts.push_back("others");
  return parts.empty() ? "no files at all" : Join(parts);
}

// Returns the folder's identity, or nothing where it is missing: the call that lists it reports why.
std::string AddVersion(const FileSystem& files, const std::string& folder, std::vector<FolderVersion>& versions) {
  absl::StatusOr<FileStat> stat = files.Stat(folder);
  if (!stat.ok()) return "";
  versions.push_back({folder, stat->changed_ns, stat->identity});
  return std::move(stat->identity);
}

// Walks one class folder.
class ClassWalk {
 public:
  // `links`: of all classes together, as links may make one folder the class of many names.
  ClassWalk(const FileSystem& files, const std::string& root, const std::vector<std::string>& extensions,
            FollowedLinks& links)
      : files_(files), root_(root), extensions_(extensions), links_(links) {}

  ClassImages Run() {
    pending_.emplace_back();
    while (!pending_.empty() && result_.status.ok()) {
      const std::string folder = std::move(pending_.back());
      pending_.pop_back();
      result_.status = Visit(folder);
    }
    if (result_.status.ok()) Sort();
    return std::move(result_);
  }

 private:
  // `folder` is relative to the class's, "" or ending in '/'.
  absl::Status Visit(const std::string& folder) {
    const std::string path = JoinPath(root_, folder);
    const std::string identity = AddVersion(files_, path, result_.folders);
    HEADRACE_ASSIGN_OR_RETURN(const std::vector<FolderEntry> entries, files_.List(path, true));
    HEADRACE_RETURN_IF_ERROR(links_.Listed(path, identity, entries.size()));
    for (const FolderEntry& entry : entries) {
      if (IsHidden(entry.name)) continue;
      if (entry.type == EntryType::kFolder) {
        if (entry.link) HEADRACE_RETURN_IF_ERROR(links_.Enter(root_, Cat(folder, entry.name)));
        pending_.push_back(Cat(folder, entry.name, "/"));
      } else if (!IsImage(entry.name, extensions_)) {
        ++result_.others[ExtensionOf(entry.name)];
      } else if (entry.type == EntryType::kBrokenLink) {
        return NotFoundError(JoinPath(root_, Cat(folder, entry.name)),
                             " is a symbolic link to something that is not there; restore it or remove the link");
      } else if (entry.type == EntryType::kFile) {
        Add(folder, entry);
      }
    }
    return absl::OkStatus();
  }

  void Add(const std::string& folder, const FolderEntry& entry) {
    const uint64_t begin = text_.size();
    text_.append(folder).append(entry.name);
    found_.push_back({begin, text_.size(), entry.size});
  }

  std::string_view PathOf(const Found& found) const {
    return std::string_view(text_).substr(found.begin, found.end - found.begin);
  }

  void Sort() {
    std::sort(found_.begin(), found_.end(), [this](const Found& a, const Found& b) { return PathOf(a) < PathOf(b); });
    result_.paths.Reserve(static_cast<int64_t>(found_.size()), static_cast<int64_t>(text_.size()));
    result_.sizes.reserve(found_.size());
    for (const Found& found : found_) {
      result_.paths.Add(PathOf(found));
      result_.sizes.push_back(found.size);
      result_.hash = MixKey(HashBytes(PathOf(found), result_.hash), static_cast<uint64_t>(found.size));
    }
  }

  const FileSystem& files_;
  const std::string& root_;
  const std::vector<std::string>& extensions_;
  FollowedLinks& links_;
  std::vector<std::string> pending_;
  std::string text_;
  std::vector<Found> found_;
  ClassImages result_;
};

std::vector<ClassImages> WalkClasses(const FileSystem& files, const std::string& folder,
                                     const std::vector<ImageClass>& classes, const std::vector<std::string>& extensions,
                                     const ImageListingOptions& options) {
  std::vector<ClassImages> images(classes.size());
  std::atomic<size_t> next{0};
  FollowedLinks links(files);
  Interrupt* const interrupt = Interrupt::Current();
  const auto work = [&] {
    for (size_t i = next.fetch_add(1); i < classes.size(); i = next.fetch_add(1)) {
      const std::string root = JoinPath(folder, classes[i].name);
      images[i] = ClassWalk(files, root, extensions, links).Run();
      // Makes the other workers end soon; classes before this one are already being walked.
      if (!images[i].status.ok()) next.store(classes.size());
    }
  };
  const size_t wanted = options.threads > 0 ? options.threads : std::max(8u, 2 * std::thread::hardware_concurrency());
  const auto help = [&] {
    const Interrupt::Follow follow(interrupt);
    work();
  };
  std::vector<std::future<void>> helpers;
  try {
    for (size_t i = 1; i < std::min(wanted, classes.size()); ++i) {
      helpers.push_back(std::async(std::launch::async, help));
    }
  } catch (const std::system_error&) {
    // The machine has no more threads: the existing ones do the work.
  }
  work();
  for (std::future<void>& helper : helpers) {
    // Checks the interrupt for the helpers, which cannot check it themselves.
    while (helper.wait_for(Interrupt::kInterval) != std::future_status::ready) Interrupt::Check().IgnoreError();
    helper.get();
  }
  return images;
}

absl::Status NoClassFoldersError(const std::string& folder, const std::vector<FolderEntry>& entries,
                                 const std::vector<std::string>& extensions) {
  const int64_t images = std::count_if(entries.begin(), entries.end(), [&](const FolderEntry& entry) {
    return entry.type == EntryType::kFile && IsImage(entry.name, extensions);
  });
  if (images > 0) {
    return NotFoundError(folder, " holds ", images, images == 1 ? " image" : " images",
                         " directly: put them in one folder a class, or use Files");
  }
  return NotFoundError(folder, " holds no class folders", entries.empty() ? " (it is empty)" : "",
                       ": ImageFolder needs one folder a class, with the images inside");
}

absl::Status CheckClassMap(const std::string& folder, const std::map<std::string, int32_t>& class_map,
                           const std::vector<std::string>& names) {
  std::vector<std::string> missing;
  for (const auto& [name, label] : class_map) {
    if (!std::binary_search(names.begin(), names.end(), name) && missing.size() < kMostNamed) missing.push_back(name);
  }
  if (missing.empty()) return absl::OkStatus();
  std::vector<std::string> there(names.begin(), names.begin() + std::min(names.size(), kMostNamed));
  if (names.size() > kMostNamed) there.push_back("…");
  return NotFoundError(folder, " has no class folder named ", Join(missing),
                       ", which the class map asks for; its folders are ", Join(there));
}

// `entries`: of the folder that holds the class folders.
absl::StatusOr<std::vector<ImageClass>> FindClasses(const std::vector<FolderEntry>& entries, const std::string& folder,
                                                    const std::vector<std::string>& extensions,
                                                    const ImageListingOptions& options) {
  std::vector<std::string> names;
  for (const FolderEntry& entry : entries) {
    const bool wanted = !IsHidden(entry.name) || options.class_map.count(entry.name) > 0;
    if (entry.type == EntryType::kFolder && wanted) names.push_back(entry.name);
  }
  if (names.empty()) return NoClassFoldersError(folder, entries, extensions);
  std::sort(names.begin(), names.end());
  HEADRACE_RETURN_IF_ERROR(CheckClassMap(folder, options.class_map, names));
  std::vector<ImageClass> classes;
  for (std::string& name : names) {
    const auto mapped = options.class_map.find(name);
    if (!options.class_map.empty() && mapped == options.class_map.end()) continue;
    const int32_t label = options.class_map.empty() ? static_cast<int32_t>(classes.size()) : mapped->second;
    classes.push_back({.name = std::move(name), .label = label});
  }
  return classes;
}

// No images at all are an error whatever the options; an empty class is one unless allowed.
absl::Status CheckImages(const std::string& folder, const std::vector<ImageClass>& classes,
                         const std::vector<ClassImages>& images, const std::vector<std::string>& extensions,
                         bool allow_empty) {
  std::map<std::string, int64_t> others;
  std::vector<std::string> empty;
  for (size_t i = 0; i < classes.size(); ++i) {
    for (const auto& [extension, count] : images[i].others) others[extension] += count;
    if (images[i].paths.empty()) empty.push_back(classes[i].name);
  }
  const std::string looked_for = Cat("files ending in ", Join(extensions), " were looked for");
  if (empty.size() == classes.size()) {
    return NotFoundError(folder, " holds no images in its class folders: ", looked_for, ", and there were ",
                         DescribeOthers(others), "; set extensions for other formats");
  }
  if (empty.empty() || allow_empty) return absl::OkStatus();
  if (empty.size() == 1) {
    const size_t i =
        std::find_if(classes.begin(), classes.end(), [&](const ImageClass& c) { return c.name == empty[0]; }) -
        classes.begin();
    return NotFoundError("class folder ", JoinPath(folder, empty[0]), " holds no images: ", looked_for,
                         ", and there were ", DescribeOthers(images[i].others),
                         "; remove the folder or set allow_empty=True");
  }
  const size_t count = empty.size();
  empty.resize(std::min(count, kMostNamed));
  return NotFoundError(folder, ": ", count, " class folders hold no images: ", Join(empty),
                       count > kMostNamed ? ", …" : "", "; ", looked_for,
                       "; remove the folders or set allow_empty=True");
}

// What the classes are, and what is in them.
struct FoundImages {
  std::vector<ImageClass> classes;
  std::vector<ClassImages> images;  // of each class
};

absl::StatusOr<FoundImages> WalkFolder(const FileSystem& files, const std::string& folder,
                                       const std::vector<std::string>& extensions, const ImageListingOptions& options) {
  FoundImages found;
  HEADRACE_ASSIGN_OR_RETURN(const std::vector<FolderEntry> entries, files.List(folder));
  HEADRACE_ASSIGN_OR_RETURN(found.classes, FindClasses(entries, folder, extensions, options));
  found.images = WalkClasses(files, folder, found.classes, extensions, options);
  return found;
}

bool HasHiddenPart(std::string_view path) { return IsHidden(path) || path.find("/.") != std::string_view::npos; }

// Adds one file below a class folder, by its path there.
void AddFarFile(std::string_view path, const FolderEntry& entry, const std::vector<std::string>& extensions,
                ClassImages& images) {
  if (HasHiddenPart(path)) return;
  if (!IsImage(path, extensions)) {
    ++images.others[ExtensionOf(path.substr(path.rfind('/') + 1))];
    return;
  }
  const uint64_t version = VersionHash(entry.version);
  images.paths.Add(path);
  images.sizes.push_back(entry.size);
  images.versions.push_back(version);
  images.hash = MixKey(HashBytes(path, images.hash), static_cast<uint64_t>(entry.size));
  if (version != 0) images.hash = MixKey(images.hash, version);
}

// What is below a folder: its own files, and those in its folders.
struct FarTree {
  std::vector<FolderEntry> entries;  // of the folder itself
  std::map<std::string, ClassImages, std::less<>> by_class;
};

absl::Status ReadFarTree(const FileSystem& store, const std::string& folder, const std::vector<std::string>& extensions,
                         FarTree& tree) {
  HEADRACE_ASSIGN_OR_RETURN(const std::unique_ptr<FolderPages> pages, store.far()->ListTree(folder));
  while (true) {
    HEADRACE_RETURN_IF_ERROR(Interrupt::Check());
    HEADRACE_ASSIGN_OR_RETURN(std::vector<FolderEntry> page, pages->Next());
    if (page.empty()) return absl::OkStatus();
    for (FolderEntry& entry : page) {
      const size_t slash = entry.name.find('/');
      if (slash == std::string::npos) {
        tree.entries.push_back(std::move(entry));
      } else if (slash > 0 && slash + 1 < entry.name.size()) {
        const std::string_view path = entry.name;
        AddFarFile(path.substr(slash + 1), entry, extensions, tree.by_class[std::string(path.substr(0, slash))]);
      }
    }
  }
}

// As WalkFolder, by one listing.
absl::StatusOr<FoundImages> ListFarFolder(const FileSystem& store, const std::string& folder,
                                          const std::vector<std::string>& extensions,
                                          const ImageListingOptions& options) {
  FarTree tree;
  const absl::Status listed = ReadFarTree(store, folder, extensions, tree);
  const bool nothing = tree.entries.empty() && tree.by_class.empty();
  if (nothing && (listed.ok() || IsPlainlyMissing(listed))) return MissingPathError(store, folder);
  HEADRACE_RETURN_IF_ERROR(listed);
  for (const auto& [name, images] : tree.by_class) {
    tree.entries.emplace_back().name = name;
    tree.entries.back().type = EntryType::kFolder;
  }
  FoundImages found;
  HEADRACE_ASSIGN_OR_RETURN(found.classes, FindClasses(tree.entries, folder, extensions, options));
  for (const ImageClass& each : found.classes) found.images.push_back(std::move(tree.by_class.find(each.name)->second));
  return found;
}

}  // namespace

absl::StatusOr<ImageListing> ImageListing::Make(const FileSystem& files, const std::string& folder,
                                                const ImageListingOptions& options) {
  HEADRACE_ASSIGN_OR_RETURN(const std::vector<std::string> extensions, NormalExtensions(options.extensions));
  HEADRACE_ASSIGN_OR_RETURN(const FileSystem::Located located, files.Locate(folder));
  const bool far = located.files->far() != nullptr;
  ImageListing listing;
  listing.folder_ = folder;
  listing.options_hash_ = OptionsHash(options);
  if (!far) AddVersion(files, folder, listing.folders_);
  HEADRACE_ASSIGN_OR_RETURN(FoundImages found, far ? ListFarFolder(*located.files, located.path, extensions, options)
                                                   : WalkFolder(files, folder, extensions, options));
  listing.classes_ = std::move(found.classes);
  const std::vector<ClassImages>& images = found.images;
  int64_t bytes = 0;
  int64_t count = 0;
  for (const ClassImages& each : images) {
    HEADRACE_RETURN_IF_ERROR(each.status);
    listing.folders_.insert(listing.folders_.end(), each.folders.begin(), each.folders.end());
    bytes += static_cast<int64_t>(each.paths.text().size());
    count += each.paths.size();
  }
  HEADRACE_RETURN_IF_ERROR(CheckImages(folder, listing.classes_, images, extensions, options.allow_empty));
  listing.paths_.Reserve(count, bytes);
  listing.sizes_.reserve(static_cast<size_t>(count));
  uint64_t hash = HashBytes(Join(extensions));
  for (size_t i = 0; i < images.size(); ++i) {
    ImageClass& owner = listing.classes_[i];
    owner.begin = listing.paths_.size();
    listing.paths_.Append(images[i].paths);
    listing.sizes_.insert(listing.sizes_.end(), images[i].sizes.begin(), images[i].sizes.end());
    listing.versions_.insert(listing.versions_.end(), images[i].versions.begin(), images[i].versions.end());
    owner.end = listing.paths_.size();
    hash = MixKey(HashBytes(owner.name, hash), static_cast<uint64_t>(owner.label));
    hash = MixKey(MixKey(hash, owner.end - owner.begin), images[i].hash);
  }
  listing.fingerprint_ = hash;
  return listing;
}

const ImageClass& ImageListing::ClassOf(int64_t i) const {
  return *std::partition_point(classes_.begin(), classes_.end(), [i](const ImageClass& c) { return c.end <= i; });
}

std::string ImageListing::RelativePath(int64_t i) const { return Cat(ClassOf(i).name, "/", paths_[i]); }

}  // namespace headrace
