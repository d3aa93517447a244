#pragma once

#include "sim/network.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace aqueduct::sim {

/// An object of the file, with the way to it for messages. Each key is asked for by name; `end` complains about the others.
class NetworkReader {
 public:
  NetworkReader(const nlohmann::json& value, std::string where) : value_(value), where_(std::move(where)) {
    if (!value.is_object()) throw BadInput(fmt::format("{}: an object is expected", where_));
  }

  bool has(const char* key) {
    known_.insert(key);
    return value_.contains(key);
  }
  const nlohmann::json& at(const char* key) {
    if (!has(key)) throw BadInput(fmt::format("{}: '{}' is missing", where_, key));
    return value_.at(key);
  }
  std::string way_to(const char* key) const { return fmt::format("{}: {}", where_, key); }

  double number(const char* key, double usual) {
    if (!has(key)) return usual;
    const nlohmann::json& found = value_.at(key);
    if (!found.is_number() || !(found.get<double>() >= 0) || found.get<double>() > 1e12)
      throw BadInput(fmt::format("{}: '{}' is a number from 0 to 10^12, but the file has {}", where_, key,
                                 found.dump()));
    return found.get<double>();
  }
  std::uint32_t count(const char* key, std::uint32_t usual) {
    if (!has(key)) return usual;
    const nlohmann::json& found = value_.at(key);
    if (!found.is_number_unsigned() || found.get<std::uint64_t>() > (1U << 28))
      throw BadInput(fmt::format("{}: '{}' is a whole number from 0 to 2^28, but the file has {}", where_,
                                 key, found.dump()));
    return found.get<std::uint32_t>();
  }
  std::string word(const char* key, const char* usual) {
    if (!has(key)) return usual;
    const nlohmann::json& found = value_.at(key);
    if (!found.is_string())
      throw BadInput(fmt::format("{}: '{}' is a text, but the file has {}", where_, key, found.dump()));
    return found.get<std::string>();
  }
  coll::Picoseconds time(const char* key, double usual_us) {
    return static_cast<coll::Picoseconds>(std::llround(number(key, usual_us) * 1e6));
  }
  std::uint64_t per_byte(const char* key, double usual_ns) {
    return static_cast<std::uint64_t>(std::llround(number(key, usual_ns) * 1e6));
  }
  [[noreturn]] void wrong(const char* key, const std::string& text) const {
    throw BadInput(fmt::format("{}: '{}' {}", where_, key, text));
  }

  void end() const {
    for (const auto& [key, value] : value_.items()) {
      if (known_.count(key) != 0) continue;
      std::string names;
      for (const std::string& name : known_) names += (names.empty() ? "" : ", ") + name;
      throw BadInput(fmt::format("{}: there is no '{}' here; there are: {}", where_, key, names));
    }
  }

 private:
  const nlohmann::json& value_;
  std::string where_;
  std::set<std::string> known_;
};

/// The machine of a network file, but for how many ranks are on a host. `name` is for messages. Errors: BadInput.
coll::Machine read_machine(NetworkReader& reader, const std::string& name);
/// The topology of a network file, for at least so many hosts unless the file gives sizes. Errors: BadInput.
std::unique_ptr<Topology> read_topology(const nlohmann::json& value, const std::string& where, Host hosts);
/// The host of each rank among those of the topology. `blocks`: its host with placement by blocks. Errors: BadInput.
std::vector<Host> read_places(NetworkReader& reader, const std::vector<Host>& blocks, Host hosts);

}  // namespace aqueduct::sim
