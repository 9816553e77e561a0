#include "io/files/far_listings.h"

#include <string>
#include <utility>

#include "core/error.h"
#include "io/files/listed_store.h"
#include "io/files/output_stream.h"

namespace headrace {

// Passes every call to the file system of the path: a far one with its listings, or the machine's own.
class FarListings::Router : public FileSystem {
 public:
  explicit Router(const FileSystem* files) : files_(files) {}

  absl::StatusOr<Located> Locate(const std::string& path) const override {
    HEADRACE_ASSIGN_OR_RETURN(Located located, files_->Locate(path));
    if (located.files->far() == nullptr) return located;
    const std::lock_guard<std::mutex> lock(mutex_);
    Listed& store = stores_[located.files];
    if (store.files == nullptr) {
      store = {std::make_unique<ListedStore>(located.files), std::string(RootOf(path)),
               located.files->far()->counters()};
    }
    return Located{store.files.get(), std::move(located.path)};
  }

  void AddStores(std::vector<Store>& stores) const {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (const auto& [files, store] : stores_) stores.push_back({store.root, files->far(), store.first});
  }

  absl::StatusOr<Tensor> Read(const std::string& path) const override {
    HEADRACE_ASSIGN_OR_RETURN(const Located located, Locate(path));
    return located.files->Read(located.path);
  }
  absl::StatusOr<std::shared_ptr<const RandomAccessFile>> Open(const std::string& path) const override {
    HEADRACE_ASSIGN_OR_RETURN(const Located located, Locate(path));
    return located.files->Open(located.path);
  }
  absl::StatusOr<std::shared_ptr<const RandomAccessFile>> Open(const std::string& path,
                                                               const ListedFile& listed) const override {
    HEADRACE_ASSIGN_OR_RETURN(const Located located, Locate(path));
    return located.files->Open(located.path, listed);
  }
  void StartRead(const std::string& path, const ListedFile& listed, ReadDone done) const override {
    const absl::StatusOr<Located> located = Locate(path);
    if (!located.ok()) return done(located.status());
    located->files->StartRead(located->path, listed, std::move(done));
  }
  absl::StatusOr<FileStat> Stat(const std::string& path) const override {
    HEADRACE_ASSIGN_OR_RETURN(const Located located, Locate(path));
    return located.files->Stat(located.path);
  }
  absl::StatusOr<std::unique_ptr<FolderPages>> ListPages(const std::string& folder, bool sizes) const override {
    HEADRACE_ASSIGN_OR_RETURN(const Located located, Locate(folder));
    return located.files->ListPages(located.path, sizes);
  }
  absl::StatusOr<std::unique_ptr<OutputStream>> Create(const std::string& path,
                                                       const OutputOptions& options) const override {
    HEADRACE_ASSIGN_OR_RETURN(const Located located, Locate(path));
    return located.files->Create(located.path, options);
  }
  absl::StatusOr<std::unique_ptr<OutputStream>> Resume(const std::string& path, const OutputOptions& options,
                                                       int64_t bytes) const override {
    HEADRACE_ASSIGN_OR_RETURN(const Located located, Locate(path));
    return located.files->Resume(located.path, options, bytes);
  }
  absl::Status Remove(const std::string& path) const override {
    HEADRACE_ASSIGN_OR_RETURN(const Located located, Locate(path));
    return located.files->Remove(located.path);
  }
  const LocalFiles* local() const override { return files_->local(); }
  const FileSystem* kept_as() const override { return files_->kept_as(); }

 private:
  struct Listed {
    std::unique_ptr<ListedStore> files;
    std::string root;     // of the path that led there first
    StoreCounters first;  // what it had counted by then
  };

  const FileSystem* const files_;
  mutable std::mutex mutex_;
  mutable std::map<const FileSystem*, Listed> stores_;
};

FarListings::FarListings() = default;
FarListings::~FarListings() = default;

const FileSystem* FarListings::Over(const FileSystem* files) {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (const auto& [of, router] : routers_) {
    if (router.get() == files) return files;
  }
  std::unique_ptr<Router>& router = routers_[files];
  if (router == nullptr) router = std::make_unique<Router>(files);
  return router.get();
}

std::vector<FarListings::Store> FarListings::stores() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::vector<Store> stores;
  for (const auto& [files, router] : routers_) router->AddStores(stores);
  return stores;
}

}  // namespace headrace
