// `PieceRead` reads bytes of a file straight into where they belong: the NameNode names a DataNode, which gives them.
// Where a DataNode is dead or breaks off, another one goes on from the byte that was reached; where one is slow,
// another one is asked for the same bytes. Threads: as Dialogue.
#ifndef HEADRACE_IO_FILES_HDFS_PIECE_READ_H_
#define HEADRACE_IO_FILES_HDFS_PIECE_READ_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "io/files/hdfs/hdfs_client.h"
#include "io/files/hdfs/name_node_dialogue.h"

namespace headrace::hdfs {

// How many bytes from `offset` on are one piece, at most `bytes`: it lies in one block where the size of blocks is
// known (otherwise 0), so that one DataNode has all of it, and is small enough to be asked for again.
int64_t PieceBytes(int64_t offset, int64_t bytes, int64_t block_size);

class PieceRead : public NameNodeDialogue {
 public:
  // `target` is not empty, and all of it lies in the file. `name` is what errors call the file.
  PieceRead(HdfsClient& client, std::string name, std::string path, int64_t offset, absl::Span<uint8_t> target);

  http::Call Next() override;
  Step Take(absl::StatusOr<http::Reply> reply) override;

 private:
  struct AtDataNode;

  http::Call NextAtDataNode();
  Step TakeNameNode(absl::StatusOr<http::Reply> reply);
  Step TakeDataNode(absl::StatusOr<http::Reply> reply);
  Step Elsewhere(std::string why);
  Step TakeBytes(const http::Reply& reply);
  void GoOnAfter(int64_t bytes);

  const std::weak_ptr<HdfsClient> client_;
  std::shared_ptr<AtDataNode> data_node_;  // null: the NameNode is asked
  int failures_ = 0;                       // of DataNodes in succession
};

}  // namespace headrace::hdfs

#endif  // HEADRACE_IO_FILES_HDFS_PIECE_READ_H_
