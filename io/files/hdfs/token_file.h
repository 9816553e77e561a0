// `FindToken` takes the delegation token of a cluster out of a file of Hadoop's credentials, as
// HADOOP_TOKEN_FILE_LOCATION names one, in the form that requests carry. Threads: pure functions.
#ifndef HEADRACE_IO_FILES_HDFS_TOKEN_FILE_H_
#define HEADRACE_IO_FILES_HDFS_TOKEN_FILE_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace headrace::hdfs {

struct DelegationToken {
  std::string identifier;
  std::string password;
  std::string kind;     // "HDFS_DELEGATION_TOKEN"
  std::string service;  // "10.0.0.1:8020", "ha-hdfs:cluster"
};

// All tokens of the file, in both forms that Hadoop writes. kData: it is damaged; the message shows nothing of it.
absl::StatusOr<std::vector<DelegationToken>> ParseTokenFile(std::string_view bytes);

// The token for a cluster that a path names so ("namenode:8020", "cluster"): the one of its service, or the only one of
// HDFS. kNotFound: there is none of HDFS, or none of several is for it.
absl::StatusOr<DelegationToken> FindToken(const std::vector<DelegationToken>& tokens, std::string_view authority);

// As the parameter "delegation" has it.
std::string TokenText(const DelegationToken& token);

}  // namespace headrace::hdfs

#endif  // HEADRACE_IO_FILES_HDFS_TOKEN_FILE_H_
