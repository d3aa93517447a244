#include "bootstrap/report.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>

namespace aqueduct::bootstrap {

std::string waited_in_vain(std::uint32_t process, std::chrono::milliseconds limit,
                           std::string_view for_whom) {
  return fmt::format(
      "process {} waited {} ms for {}; if they need longer, set AQUEDUCT_BOOTSTRAP_TIMEOUT higher", process,
      limit.count(), for_whom);
}

std::string others_of(std::uint32_t processes) {
  return processes == 2 ? "the other process of the job to start"
                        : fmt::format("the other {} processes of the job to start", processes - 1);
}

std::string no_socket(int descriptor, std::string_view variable, std::string_view what_to_do) {
  return fmt::format(
      "{} names descriptor {}, which is not a socket of a launcher ({}); was the variable inherited by a "
      "program that the launcher did not start? {}",
      variable, descriptor, std::strerror(errno), what_to_do);
}

}  // namespace aqueduct::bootstrap
