#pragma once

#include "coll/tune/decision.hpp"

#include <chrono>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace aqueduct::coll {

/// The version of the files that this library writes and reads. docs/tuning.md has their schema.
inline constexpr std::uint64_t kTuningVersion = 1;
inline constexpr std::string_view kTuningFormat = "aqueduct-tuning";
/// How long a writer waits for others. chosen: a save takes some milliseconds, far longer only on a machine in distress.
inline constexpr std::chrono::milliseconds kLockPatience{10'000};

/// A longer file is neither read nor written. Chosen: some 12,000 decisions, of which a job takes TuningTable::kMostDecisions.
inline constexpr std::size_t kMostTuningText = std::size_t{4} << 20;

/// What decisions are for. A file holds those of all machines of a kind and of one conduit; each decision says for which
/// network it was made (core::Properties::network).
struct TuningPlace {
  std::string machine;  ///< machine_kind
  std::string conduit;
  std::string network{};  ///< empty: not known, or the conduit has one only

  friend bool operator==(const TuningPlace&, const TuningPlace&) = default;
};

/// Decisions by their network; those of files that did not say it have the name "".
using DecisionsByNetwork = std::map<std::string, std::vector<Decision>>;

struct TuningRead {
  /// Those that can be used over the place's network, of two of a key the better one later: without a network, then with the
  /// place's. Over one that is not known: all. Each in the order of the file.
  std::vector<Decision> decisions;
  DecisionsByNetwork by_network;  ///< the whole file
  std::size_t unknown =
      0;  ///< entries that this library cannot use, such as those of an algorithm of a later one
  std::string problem;  ///< empty; or why the file cannot be used, and what to do
};

/// Reads the text of a file. It may name algorithms of the library, and those that the program has added.
TuningRead read_tuning(std::string_view text, const TuningPlace& place, AddedSpan added = {});
/// The text of a file.
std::string tuning_text_by_network(const TuningPlace& place, const DecisionsByNetwork& decisions);
/// The same, if all decisions are of the place's network.
std::string tuning_text(const TuningPlace& place, std::span<const Decision> decisions);
/// An algorithm with the parameters that are wanted of it: "k-nomial:radix=8", as a setting names it.
std::string name_of(const Timed& one);

/// This machine without its name: its processor and how many of them. Equal nodes of a cluster share their decisions.
std::string machine_kind();
/// The file that `named` means: itself; or in a folder, that of the place.
std::string tuning_file(const std::string& named, const TuningPlace& place);

/// The same, from a file. A file that does not exist has no decisions, and no problem if `named` is a folder.
TuningRead load_tuning(const std::string& named, const TuningPlace& place, AddedSpan added = {});
/// Adds decisions to a file, or makes it. One writer at a time changes it, under a lock on FILE.lock; readers see the old
/// file or the new one. Who finds the lock taken waits, `patience` at most. Returns what is wrong, or an empty string; the
/// file is as it was then.
std::string save_tuning(const std::string& file, const TuningPlace& place,
                        std::span<const Decision> decisions,
                        std::chrono::milliseconds patience = kLockPatience, AddedSpan added = {});
/// What would keep save_tuning from changing the file; empty: nothing does. For those who measure for long before they save.
/// Makes the folder and the lock.
std::string why_not_saved(const std::string& file, const TuningPlace& place,
                          std::chrono::milliseconds patience, AddedSpan added = {});

}  // namespace aqueduct::coll
