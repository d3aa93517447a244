#include "bootstrap/description.hpp"

#include <fmt/format.h>

#include <charconv>
#include <system_error>
#include <utility>

namespace aqueduct::bootstrap {
namespace {

/// Reads a whole decimal number into a field that has not been read before.
template <class T>
bool read(std::string_view text, T& field, bool& seen) {
  const char* end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, field);
  return !std::exchange(seen, true) && error == std::errc{} && stopped == end;
}

/// Chosen: far more than any launcher starts. Tables of all processes are made at once, before anybody has answered.
constexpr std::uint32_t kMostProcesses = 1u << 20;

}  // namespace

std::string format_description(const Description& about) {
  return fmt::format("fd:{},process:{},processes:{},job:{}", about.descriptor, about.process, about.processes,
                     about.job);
}

std::optional<Description> parse_description(std::string_view text) {
  Description about;
  bool descriptor = false, process = false, processes = false, job = false;
  while (!text.empty()) {
    const auto comma = text.find(',');
    const auto item = text.substr(0, comma);
    text = comma == std::string_view::npos ? std::string_view{} : text.substr(comma + 1);
    const auto colon = item.find(':');
    if (colon == std::string_view::npos) return std::nullopt;
    const auto name = item.substr(0, colon);
    const auto value = item.substr(colon + 1);
    const bool good = name == "fd"          ? read(value, about.descriptor, descriptor)
                      : name == "process"   ? read(value, about.process, process)
                      : name == "processes" ? read(value, about.processes, processes)
                      : name == "job"       ? read(value, about.job, job)
                                            : false;
    if (!good) return std::nullopt;
  }
  const bool complete = descriptor && process && processes && job;
  if (!complete || about.descriptor < 0 || about.process >= about.processes ||
      about.processes > kMostProcesses)
    return std::nullopt;
  return about;
}

}  // namespace aqueduct::bootstrap
