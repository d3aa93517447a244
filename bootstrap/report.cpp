#include "bootstrap/report.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>

namespace aqueduct::bootstrap {

std::string waited_in_vain(std::uint32_t process, std::chrono::milliseconds limit,
                           std::string_view for_whom) {
  return fmt::format(
      "process {} waited {} ms for {}; set AQUEDUCT_BOOTSTRAP_TIMEOUT higher if they need longer", process,
      limit.count(), for_whom);
}

std::string others_of(std::uint32_t processes) {
  return fmt::format("the other {} of the job to start", processes - 1);
}

std::string no_socket(int descriptor, std::string_view variable, std::string_view what_to_do) {
  return fmt::format(
      "descriptor {} of {} is no socket of a launcher ({}); was the variable kept for a program "
      "that it did not start? {}",
      descriptor, variable, std::strerror(errno), what_to_do);
}

}  // namespace aqueduct::bootstrap
