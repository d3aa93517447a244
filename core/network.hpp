#pragma once

#include <aqueduct/config.hpp>

#include "core/clock.hpp"
#include "core/conduit.hpp"
#include "core/log.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace aqueduct::core {

/// Raised whenever core/conduit.hpp or this file changes in a way that a plug-in would notice.
inline constexpr std::uint32_t kConduitInterface = 5;

/// What a conduit is told about its process and job before it opens endpoints.
struct Process {
  const Config* config = nullptr;
  Log* log = nullptr;
  std::uint64_t job = 0;            ///< a number that other jobs on this host do not have
  Rank ranks = 0;                   ///< in the whole job
  std::vector<Rank> mine;           ///< this process's ranks, rising
  std::vector<std::uint32_t> host;  ///< of each rank: equal numbers share a host
  EndpointClock clock = {};         ///< what every wait, timer and backoff goes by
};

/// One conduit in one process: what its endpoints share. Outlives them.
class Network {
 public:
  virtual ~Network() = default;
  virtual Result<std::unique_ptr<Conduit>> open(Rank me) = 0;
};

/// What carries a conduit's packets between hosts, the least wanted first: what the automatic choice goes by.
enum class Wire : std::uint8_t {
  sockets_of_library,  ///< the system's sockets below a library's layers, which nobody measured to be faster than udp
  sockets,             ///< the system's sockets
  hardware,            ///< a network card that moves data without the system
};

/// Whether a conduit can work here.
struct Usability {
  bool usable = false;
  std::string why;  ///< for people: what was found, or what is missing and what to do
  /// What was found, of a conduit that crosses hosts. A job is only given a conduit that has the same on all of them.
  Wire wire = Wire::sockets_of_library;
};

/// An entry of the list of conduits (conduits/builtin.cpp), or what a plug-in's `aqueduct_conduit` points to.
struct ConduitEntry {
  std::uint32_t interface_version = kConduitInterface;
  const char* name = nullptr;
  const char* summary = nullptr;
  bool crosses_hosts = false;
  /// Among usable conduits over the same kind of wire the automatic choice takes the one with the largest number.
  std::uint8_t preference = 0;
  std::span<const SettingInfo> settings;
  /// What is wrong with a value of one of `settings` beyond its type and limits, for people; empty: nothing. May be null.
  std::string (*check)(const SettingInfo& setting, std::string_view value) = nullptr;
  Usability (*probe)(const Config&) = nullptr;
  Result<std::unique_ptr<Network>> (*make)(const Process&) = nullptr;
};

/// The symbol that a plug-in exports: `extern "C" const aqueduct::core::ConduitEntry* aqueduct_conduit();`
using ConduitEntryFunction = const ConduitEntry* (*)();
inline constexpr const char* kPluginSymbol = "aqueduct_conduit";

}  // namespace aqueduct::core
