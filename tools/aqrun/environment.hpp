#pragma once

#include <string>
#include <vector>

namespace aqrun {

/// The environment of a new process: this process's variables, with some replaced.
class Environment {
 public:
  explicit Environment(char** inherited);

  /// `assignment`: "NAME=value"; replaces the variable of that name.
  void set(std::string assignment);
  void unset(const std::string& name);
  /// For exec; valid until the next change.
  std::vector<char*> pointers();

 private:
  std::vector<std::string> assignments_;
};

}  // namespace aqrun
