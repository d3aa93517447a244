#include "tools/aqrun/environment.hpp"

#include <algorithm>
#include <utility>

namespace aqrun {

Environment::Environment(char** inherited) {
  for (; *inherited != nullptr; ++inherited) assignments_.emplace_back(*inherited);
}

void Environment::set(std::string assignment) {
  unset(assignment.substr(0, assignment.find('=')));
  assignments_.push_back(std::move(assignment));
}

void Environment::unset(const std::string& name) {
  const std::string start = name + '=';
  std::erase_if(assignments_, [&start](const std::string& present) { return present.starts_with(start); });
}

std::vector<char*> Environment::pointers() {
  std::vector<char*> all;
  for (std::string& assignment : assignments_) all.push_back(assignment.data());
  all.push_back(nullptr);
  return all;
}

}  // namespace aqrun
