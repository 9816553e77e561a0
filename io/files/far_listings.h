// `FarListings` remembers what far stores said of folders and files, so that each prefix is listed once for as long as
// it lives: a data set has one, which its iterations and counts share. Over its file system, stats of files in a listed
// folder cost no request, files are opened as they were listed, and what turns out to have changed is forgotten, so
// that the next iteration lists it again. The machine's own files it leaves alone. Threads: any thread. It outlives
// what reads through it; no lock is held during requests but by those for one listing.
#ifndef HEADRACE_IO_FILES_FAR_LISTINGS_H_
#define HEADRACE_IO_FILES_FAR_LISTINGS_H_

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "io/files/far_files.h"
#include "io/files/file_system.h"

namespace headrace {

class FarListings {
 public:
  FarListings();
  ~FarListings();
  FarListings(const FarListings&) = delete;

  // A file system like `files`, which is a registry or a store, with the listings of this object. The same for the same
  // `files`, and for itself; lives as long as this object.
  const FileSystem* Over(const FileSystem* files);

  // A far store that paths led to, with the root of such a path ("s3://"), and what it had counted when the first one
  // did.
  struct Store {
    std::string root;
    const FarFiles* far = nullptr;
    StoreCounters first;
  };
  std::vector<Store> stores() const;

 private:
  class Router;

  mutable std::mutex mutex_;
  std::map<const FileSystem*, std::unique_ptr<Router>> routers_;
};

}  // namespace headrace

#endif  // HEADRACE_IO_FILES_FAR_LISTINGS_H_
