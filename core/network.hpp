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

/// Raised with every change of core/conduit.hpp, of the headers of core that it includes, or of this file that makes existing
/// plug-ins invalid. The library refuses a plug-in with another number (version_mismatch).
inline constexpr std::uint32_t kConduitInterface = 15;

/// The process and its job, as a conduit sees them before it opens endpoints. It outlives the Network.
struct Process {
  const Config* config = nullptr;
  Log* log = nullptr;               ///< for errors that concern the whole process; thread-safe
  std::uint64_t job = 0;            ///< no other job of this host has it: for names of files and sockets
  Rank ranks = 0;                   ///< number of ranks of the whole job
  std::vector<Rank> mine;           ///< this process's ranks, in rising order
  std::vector<std::uint32_t> host;  ///< [rank]: ranks with equal numbers share a host
  /// The clock of this process's endpoints. A conduit reads it for every wait, timer and backoff. A conduit that reads
  /// another clock works too, but virtual time does not reach it.
  EndpointClock clock = {};
};

/// A conduit in one process: what its endpoints share. It outlives them.
///
/// Threads: the endpoints of a process run on different threads, so a Network guards what they share.
class Network {
 public:
  virtual ~Network() = default;
  /// Makes the conduit of one of this process's ranks. Called once for each, on one thread.
  /// Errors: the start of the job fails with the status on all ranks.
  ///         The conduit has logged the reason and what to try.
  virtual Result<std::unique_ptr<Conduit>> open(Rank me) = 0;
};

/// What carries a conduit's packets between hosts, the least wanted first. The automatic choice compares these first.
enum class Wire : std::uint8_t {
  sockets_of_library,  ///< the system's sockets, through a library not measured to be faster than udp
  sockets,             ///< the system's sockets
  hardware,            ///< a network card that moves data without the system
};

/// The answer of a conduit's `probe`: whether it can work on this machine.
struct Usability {
  bool usable = false;
  std::string why;  ///< in words: what was found, or what is missing and what to do
  /// What would carry the packets; only for conduits that cross hosts. The automatic choice takes a conduit only if all
  /// processes of the job give the same answer.
  Wire wire = Wire::sockets_of_library;
};

/// Describes a conduit: an entry of the list in conduits/builtin.cpp, or the result of a plug-in's `aqueduct_conduit`.
/// A constant: it is read by several threads and never ends.
struct ConduitEntry {
  std::uint32_t interface_version = kConduitInterface;
  const char* name = nullptr;     ///< for AQUEDUCT_CONDUIT, and the beginning of the names of its settings
  const char* summary = nullptr;  ///< one line for aqinfo
  bool crosses_hosts = false;     ///< false: it serves only jobs whose ranks share one host
  /// If several usable conduits have the same kind of wire, the automatic choice takes the largest preference.
  std::uint8_t preference = 0;
  std::span<const SettingInfo> settings = {};
  /// Checks a value beyond its type and limits. Returns what is
  /// wrong with it, in words, or an empty string. May be null.
  std::string (*check)(const SettingInfo& setting, std::string_view value) = nullptr;
  /// Whether the conduit can work here. It is cheap, changes nothing and may be called more than once, without a job.
  Usability (*probe)(const Config&) = nullptr;
  /// Makes the network of this process. Called once for a job.
  /// Errors: the start of the job fails with the status on all ranks.
  ///         The conduit has logged the reason and what to try.
  Result<std::unique_ptr<Network>> (*make)(const Process&) = nullptr;
};

/// The function that a plug-in exports: `extern "C" const aqueduct::core::ConduitEntry* aqueduct_conduit();`
using ConduitEntryFunction = const ConduitEntry* (*)();
inline constexpr const char* kPluginSymbol = "aqueduct_conduit";

}  // namespace aqueduct::core
