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

/// How a suite gets ranks that communicate over one conduit: everything that a suite knows about the conduit.
struct Fabric {
  std::string name;     ///< "smp-processes": unique; letters, digits and '-'
  std::string conduit;  ///< the value of AQUEDUCT_CONDUIT: a name, or a plug-in's file
  Settings settings;    ///< further settings of this fabric
  /// The number of processes over which the ranks are spread evenly, as endpoints. 0: one process per rank.
  Rank processes = 1;
  /// The largest number of ranks that makes sense here. Cases that need more use this many, or are skipped.
  Rank most_ranks = 8;
  /// Makes the far network for a job in one process, around or instead of the
  /// conduit's own. Null: the conduit's own is used.
  std::function<Result<std::unique_ptr<core::Network>>(const core::Process&)> network = nullptr;
  /// Called in the kit before each launch. Prepares what this fabric needs, or returns why that is not possible here,
  /// and the case is skipped. Null: nothing is needed.
  std::function<std::string()> prepare = nullptr;
  /// Called with the process's number, in each process of a job before it starts; returns additional settings.
  std::function<Settings(std::uint32_t process)> enter = nullptr;
  /// The network is known to have load, add and compare-and-swap of 64 bits. Domains of these must
  /// use it, even if the job has a near conduit.
  bool has_atomics = false;
  /// Other ranks' atomics on a rank's memory complete although that rank computes and makes no calls.
  bool serves_aside = false;
  /// This library's code writes a put's target, in the process that the case steps through.
  bool stores_once = false;
  /// The ranks' clock is not the system's: what a wait takes says nothing of real time.
  bool virtual_time = false;
  /// Operations that may be in flight when their peer dies, without ending this rank too.
  enum class Outlived { everything, all_but_gets, little } outlived = Outlived::everything;
  /// Runs only if --fabric names it exactly: for fabrics that are meant to fail.
  bool hidden = false;

  // From the command line, the same for all fabrics.
  std::uint64_t seed = 1;
  std::chrono::seconds limit{60};  ///< for one launch of ranks
  unsigned thorough = 1;           ///< factor for the length of random programs
  /// What the library does alike above all conduits is repeated less, or left out: another fabric shows it in full.
  bool brief = false;
  /// A shell command that starts {ranks} processes, each a rank of a launch; empty: the kit forks the ranks.
  std::string launcher = {};

  bool one_process() const noexcept { return processes == 1; }
  bool process_each() const noexcept { return processes == 0; }
};

/// Prints the parameter in GoogleTest's output, behind "GetParam() = ".
inline void PrintTo(const Fabric& fabric, std::ostream* out) { *out << fabric.name; }

/// The fabrics of a program, including hidden ones. `seed` is for faults and orders that follow from the command line's.
using FabricList = std::vector<Fabric> (*)(std::uint64_t seed);

/// The choices of the kit's command line.
struct Selection {
  FabricList all = nullptr;  ///< the fabrics to choose from; not from the command line
  std::string conduit;       ///< empty: all conduits of the list
  std::string plugin;        ///< a plug-in's file instead
  std::string fabric;        ///< comma-separated parts of fabrics' names
  Rank most_ranks = 8;
  std::uint64_t seed = 1;
  std::chrono::seconds limit{60};
  unsigned thorough = 1;
  bool brief = false;
  std::string launcher;  ///< starts the ranks of the launches; empty: the kit forks them
  bool failing = false;  ///< adds the suite Failing
  /// From 1: this process is a rank of that launch of its case. 0: it is the kit, which runs the cases.
  int as_rank = 0;

  /// Whether a launcher starts the ranks.
  bool launches() const noexcept { return !launcher.empty() || as_rank != 0; }
};

/// Fabrics for any conduit, by name or file: its ranks as threads, as processes, and mixed.
std::vector<Fabric> plain_fabrics(const std::string& name, const std::string& conduit);

/// The far network of a fabric: the one that it supplies, or else its conduit's own.
Result<std::unique_ptr<core::Network>> make_network(const Fabric& fabric, const core::Process& process);

/// The fabrics that a selection asks for.
std::vector<Fabric> select(const Selection& selection);

/// The selection of this program. It is global, because GoogleTest gets its parameters from
/// plain functions. Set it before InitGoogleTest.
Selection& program_selection();
/// The parameters of every suite: select(program_selection()).
std::vector<Fabric> fabrics();

}  // namespace aqueduct::conformance
