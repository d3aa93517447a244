#pragma once

#include <string>
#include <vector>

namespace aqrun {

/// The variables of a new process: those of this one, with some replaced.
class Environment {
 public:
  explicit Environment(char** inherited);

  /// "NAME=value", in the place of what had that name.
  void set(std::string assignment);
  void unset(const std::string& name);
  /// For exec; valid until the next change.
  std::vector<char*> pointers();

 private:
  std::vector<std::string> assignments_;
};

}  // namespace aqrun
