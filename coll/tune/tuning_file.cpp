#include "coll/tune/tuning_file.hpp"

#include "core/network_profile.hpp"

#include <fmt/format.h>

#include <cctype>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace aqueduct::coll {

namespace {

std::string why() { return std::strerror(errno); }

}  // namespace

std::string machine_kind() { return std::string(core::kind_of_machine(core::machine_name())); }

std::string tuning_file(const std::string& named, const TuningPlace& place) {
  std::error_code ignored;
  if (named.empty() || (named.back() != '/' && !std::filesystem::is_directory(named, ignored))) return named;
  std::uint32_t number = 0x811c9dc5;
  for (const char c : place.machine) number = (number ^ static_cast<unsigned char>(c)) * 0x01000193u;
  std::string conduit;
  for (const char c : place.conduit.substr(place.conduit.rfind('/') + 1))  // a plug-in's may be a path
    conduit += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  return fmt::format("{}{}tuning-{}-{:08x}.json", named, named.back() == '/' ? "" : "/", conduit, number);
}

TuningRead load_tuning(const std::string& named, const TuningPlace& place, AddedSpan added) {
  const std::string file = tuning_file(named, place);
  TuningRead none;
  std::error_code error;
  const auto kind = std::filesystem::status(file, error).type();
  // A folder need not have a file for each conduit.
  if (kind == std::filesystem::file_type::not_found && file != named) return none;
  std::ifstream in;
  errno = kind == std::filesystem::file_type::not_found ? ENOENT : EINVAL;
  if (kind == std::filesystem::file_type::regular) in.open(file, std::ios::binary);
  if (!in.is_open()) {
    none.problem = fmt::format("it cannot be read: {}; `aqtune` writes it", error ? error.message() : why());
    return none;
  }
  std::string text(kMostTuningText + 1, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(in.gcount()));
  if (text.size() > kMostTuningText) {
    none.problem = fmt::format("it has more than {} bytes; tune again with `aqtune`", kMostTuningText);
    return none;
  }
  return read_tuning(text, place, added);
}

}  // namespace aqueduct::coll
