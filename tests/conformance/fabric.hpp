#pragma once

#include <aqueduct/config.hpp>

#include "core/network.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

namespace aqueduct::conformance {

/// Names and values for Config::set.
using Settings = std::vector<std::pair<std::string, std::string>>;

/// How a suite gets ranks that talk over one conduit: what a suite knows of a conduit.
struct Fabric {
  std::string name;     ///< "smp-processes": unique; letters, digits and '-'
  std::string conduit;  ///< what AQUEDUCT_CONDUIT is set to: a name, or a plug-in's file
  Settings settings;    ///< what else this fabric sets
  /// How many processes the ranks are spread over, each with as many endpoints: 0: a process for each rank.
  Rank processes = 1;
  /// The largest number of ranks that makes sense here. Cases that want more take this many, or are skipped.
  Rank most_ranks = 8;
  /// Makes the far network for a job in one process, around or instead of the conduit's own; null: that one.
  std::function<Result<std::unique_ptr<core::Network>>(const core::Process&)> network = nullptr;
  /// Called in the kit before each launch: gets ready what this fabric stands on, or says why it cannot be had
  /// here, and the case is skipped; null: nothing is needed.
  std::function<std::string()> prepare = nullptr;
  /// Called in each process of a job before it starts, with its number; what it answers is set there besides.
  std::function<Settings(std::uint32_t process)> enter = nullptr;
  /// Its network is known to load, add and compare-and-swap 64 bits: domains of these must be done by it, beside a near conduit too.
  bool has_atomics = false;
  /// Others' atomics on a rank's memory end though it computes and calls nothing.
  bool serves_aside = false;
  /// The target of a put is written by the conduit's own code, a word once; libraries below may store it twice.
  bool stores_once = false;
  /// What may be under way between a rank and one that dies, without ending the rank too.
  enum class Outlived { everything, all_but_gets, little } outlived = Outlived::everything;
  /// Only run when --fabric names it exactly: fabrics that are meant to fail.
  bool hidden = false;

  // From the command line, the same for all.
  std::uint64_t seed = 1;
  std::chrono::seconds limit{60};  ///< for one launch of ranks
  unsigned thorough = 1;           ///< how many times longer the random programs are

  bool one_process() const noexcept { return processes == 1; }
  bool process_each() const noexcept { return processes == 0; }
};

/// What GoogleTest writes after "GetParam() = ".
inline void PrintTo(const Fabric& fabric, std::ostream* out) { *out << fabric.name; }

/// What the command line of the kit chooses.
struct Selection {
  std::string conduit;  ///< empty: every conduit of the kit
  std::string plugin;   ///< a plug-in's file instead
  std::string fabric;   ///< parts of fabrics' names, with commas between them
  Rank most_ranks = 8;
  std::uint64_t seed = 1;
  std::chrono::seconds limit{60};
  unsigned thorough = 1;
};

/// Every fabric of the kit, hidden ones too: a list written by hand.
std::vector<Fabric> all_fabrics(std::uint64_t seed);
// What the conduits give to it, from conduits/<name>/tests/fabric.cpp.
std::vector<Fabric> loop_fabrics(std::uint64_t seed);
std::vector<Fabric> smp_fabrics();
std::vector<Fabric> udp_fabrics();
std::vector<Fabric> udp_fabrics_over_hosts();
std::vector<Fabric> ofi_fabrics();
std::vector<Fabric> ucx_fabrics();
std::vector<Fabric> ibv_fabrics();
/// Any conduit, by name or file: its ranks as threads, as processes, and both.
std::vector<Fabric> plain_fabrics(const std::string& name, const std::string& conduit);

/// Those that a selection asks for.
std::vector<Fabric> select(const Selection& selection);

/// The selection of this program. GoogleTest asks for its parameters through plain functions, so it has to be
/// kept somewhere: set it before InitGoogleTest.
Selection& program_selection();
/// What every suite is instantiated over: select(program_selection()).
std::vector<Fabric> fabrics();

}  // namespace aqueduct::conformance
