#include "ops/source/split_signature.h"

#include "core/text.h"

namespace headrace {

SourceParameter ShuffleParameter() {
  return {"shuffle", "shuffle: bool | Literal[\"files\"] = False",
          "True: with an index all orders of the rows are equally likely, and each epoch has a new one; without, the "
          "splits of the files are read in an order that differs in each epoch, several at once. \"files\", without an "
          "index: the files come in such an order, each whole, and its rows in theirs."};
}

ir::PythonSignature SplitSignature(const SplitParameters& parameters) {
  std::vector<SourceParameter> all = parameters.first;
  all.push_back({"window", Cat("window: int = ", parameters.window), std::string(parameters.window_doc)});
  all.push_back({"interleave", "interleave: int | None = None"});
  all.push_back({"sharding", "sharding: str | None = None"});
  if (!parameters.whole_files) all.push_back({"split_bytes", "split_bytes: int | None = None"});
  all.insert(all.end(), parameters.last.begin(), parameters.last.end());
  all.push_back({"seed", "*, seed: int | None = None"});
  all.push_back({"name", "name: str | None = None"});
  ir::PythonSignature python;
  for (const SourceParameter& parameter : all) {
    Append(python.parameters, python.parameters.empty() ? "" : ", ", parameter.text);
    python.docs.push_back({parameter.name, parameter.doc});
  }
  return python;
}

}  // namespace headrace
