// `FindOtherDataNode` asks the NameNode who else has the bytes of a piece that one DataNode is slow to give.
// Threads: any thread; `found` is called on the transport's event thread.
#ifndef HEADRACE_IO_FILES_HDFS_OTHER_DATA_NODE_H_
#define HEADRACE_IO_FILES_HDFS_OTHER_DATA_NODE_H_

#include <cstdint>
#include <string>

#include "io/files/hdfs/hdfs_client.h"
#include "io/files/http/http_client.h"

namespace headrace::hdfs {

// `piece` is the operation that reads it, `received` how many of its bytes there are already, `slow` the DataNode's
// address ("10.0.0.1:9864"). `found` is not called where the NameNode names no other, or does not answer at once.
void FindOtherDataNode(HdfsClient& client, const Operation& piece, int64_t received, const std::string& slow,
                       http::Call::FoundHedge found);

}  // namespace headrace::hdfs

#endif  // HEADRACE_IO_FILES_HDFS_OTHER_DATA_NODE_H_
