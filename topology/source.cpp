#include "topology/machine.hpp"

namespace aqueduct::topology {

Source Source::of(const std::string& setting) {
  if (setting.empty() || setting == "auto") return {Kind::machine, {}};
  if (setting == "none") return {Kind::none, {}};
  const bool file = setting.find('/') != std::string::npos || setting.ends_with(".xml");
  return {file ? Kind::xml : Kind::synthetic, setting};
}

}  // namespace aqueduct::topology
