// Fuzzes files of Hadoop's credentials, and its configuration: tokens lie within the bytes.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/testing/require.h"
#include "io/files/hdfs/hadoop_configuration.h"
#include "io/files/hdfs/token_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto tokens = headrace::hdfs::ParseTokenFile(bytes);
  if (tokens.ok()) {
    size_t sum = 0;
    for (const auto& token : *tokens) {
      sum += token.identifier.size() + token.password.size() + token.kind.size() + token.service.size();
      headrace::hdfs::TokenText(token);
    }
    headrace::Require(sum <= size, "tokens lie within the bytes");
    headrace::hdfs::FindToken(*tokens, "namenode:8020").status().IgnoreError();
  }
  headrace::hdfs::HadoopConfiguration configuration;
  if (configuration.Add("fuzz.xml", bytes).ok()) configuration.Find("a");
  return 0;
}
