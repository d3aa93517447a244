#pragma once

#include <aqueduct/coll_types.hpp>
#include <aqueduct/status.hpp>
#include <aqueduct/team.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

// Finding the fastest algorithms by measuring. docs/tuning.md says what chooses without it, and how results are used.

namespace aqueduct {

/// How `tune` searches. The same on all members, but for `work` and `save`.
struct TuneOptions {
  /// After this no further size is begun, and those left stay as they are. A size that was begun is finished: three
  /// calls of each algorithm at least. Chosen.
  std::chrono::nanoseconds time = std::chrono::seconds(10);
  /// How many algorithms of the model's order are measured for a size: 1, the first one alone; many, all. Those of shared
  /// memory and of the conduit, which no model knows, come in addition, and the one that would run now. Chosen.
  std::uint32_t candidates = 8;
  /// The modes and the order of the calls. `limit` and `no_trials` mean nothing here.
  CollOptions calls;
  /// The elements of reductions: i32, i64, u32, u64, f32 or f64, which are added up.
  ElementType type = ElementType::f64;
  /// What this member does between the begin of an operation and the wait for it, if the program overlaps the two: then the
  /// time of both counts. Called once for each measured operation; the members make equally many calls.
  std::function<void()> work;
  /// How long one call of `work` may take.
  std::chrono::nanoseconds work_limit = std::chrono::seconds(1);
  /// A file, or a folder of them (AQUEDUCT_COLL_TUNING), to which the first member adds what was found. Empty: none.
  std::string save;
  /// How often each algorithm is measured after the search of a size, and the choice twice as often, to see what the choice costs: 2
  /// to kMostExhaustive times. 0: the search is all. It takes long, and is not part of `time`.
  std::uint32_t exhaustive = 0;
  static constexpr std::uint32_t kMostExhaustive = 1000;
};

/// What was found for an operation and a size.
struct Tuned {
  Collective operation = Collective::barrier;
  std::uint64_t bytes = 0;
  std::string algorithm;  ///< with its parameters, as a setting has it
  std::string runner_up;  ///< empty: nothing else can do it, or nothing else was tried
  /// The median, over the repetitions, of the time that the slowest member took. Of calls of less than 20 us it is the mean of
  /// several in a row (TuneOptions::work: of one), of longer ones the time behind a barrier.
  std::chrono::nanoseconds median{0};
  std::chrono::nanoseconds runner_up_median{0};
  std::uint32_t samples = 0;
  std::uint32_t tried = 0;  ///< algorithms, with their parameters
  /// No other one that was tried is likely to be 5 % faster, or it won so many repetitions that chance is no good explanation.
  bool decided = false;
  // With TuneOptions::exhaustive.
  std::uint32_t compared = 0;  ///< algorithms, with their parameters, beside the choice
  /// How much longer the choice takes than the fastest of all (0.05: 5 %); how much longer than itself, measured twice in the
  /// same turns. What is less than that is chance.
  double regret = 0;
  double noise = 0;
  std::string fastest;  ///< empty: the choice
};

struct TuneReport {
  std::vector<Tuned> found;
  /// Sizes for which there was no time or no memory, or whose algorithm a setting names; 1 more for a barrier that is the
  /// conduit's own.
  std::size_t left_out = 0;
  /// Of these: whose algorithm a setting names, or which are the conduit's own; and for which there was no time.
  std::size_t left_out_by_setting = 0;
  std::size_t left_out_by_time = 0;
  bool saved = false;  ///< the first member has added it to its file; false too where it has not told in time
};

/// Measures which algorithms are the fastest on this team, for blocks of these sizes. From then on the team's calls of these
/// operations, and of sizes nearby, use them. Plans that are bound already keep their algorithms.
///
/// Collective over the team: all members pass the same operations and sizes, in the same order. It uses buffers of its own.
///
/// Shape:      operations from barrier to exscan; sizes that are multiples of the type's, for reductions. A barrier has no size
///             and no modes: it is measured once, whatever `bytes` and `options` say, if it is not the conduit's own.
/// Completion: all members use the same new table, and get the same report.
/// Errors:     invalid_argument (an operation, a type or a size that cannot be, a null list: on all members); mismatch (members pass
///             different arguments; the team can be used further); in_handler; peer_lost; no_memory;
///             timed_out, with the rank: `work` took longer there than work_limit; or without one, when a member has not
///             come back from `work` at all: then the other members' collective calls on the team fail with timed_out
///             from then on. invalid_argument, with the rank, also if `work` has thrown there (the log has its words).
///             After an error the team keeps its old table, unless it can make no calls any more.
/// Cost:       for each size some 35 calls of the operation for eight algorithms, if times do not vary, and five all-reduces. If they do,
///             what they leave open is repeated: at most 41 calls of each algorithm, and eleven all-reduces. Of calls of less than 20 us
///             each is a row of 17 at the most.
Result<TuneReport> tune(Team& team, std::span<const Collective> operations,
                        std::span<const std::uint64_t> bytes, const TuneOptions& options = {});

}  // namespace aqueduct
