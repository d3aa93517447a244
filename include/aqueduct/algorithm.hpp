#pragma once

#include <aqueduct/coll_types.hpp>
#include <aqueduct/rank.hpp>

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

// Algorithms of the program's own for collective operations, beside the library's. docs/collectives/own-algorithms.md has a
// whole one.

namespace aqueduct {

namespace detail {
class StepCollector;
}

/// A number that an algorithm takes, such as the radix of a tree. A search tries powers of two; of one that is called
/// `segments`, into which a block is cut, 1, 4, 16, 64 and a number that goes with the bytes.
struct AlgorithmParameter {
  std::string name;  ///< small letters, digits, `-` and `_`
  std::uint32_t least = 1;
  std::uint32_t most = 1;
  std::uint32_t usual =
      1;  ///< the value if nobody chooses; of one that is named "segments" the library computes it
};

/// What an algorithm is asked to do: the same on all members. A *block* is the unit of the operation: what the root of a
/// broadcast sends, what a member contributes to a gather or a reduction, what one has for another in an all_to_all.
///
/// A large operation may run in pieces: `bytes` is then a piece's part of each block, and `pitch` is more.
struct AlgorithmCall {
  Collective operation = Collective::broadcast;
  Sync in = Sync::all;  ///< the library adds the signals that `all` needs around the steps
  Sync out = Sync::all;
  ReduceOrder order = ReduceOrder::any;
  bool commutative = true;
  Rank ranks = 1;                             ///< members of the team
  Rank root = 0;                              ///< as a position in the team; 0 if the operation has none
  std::uint32_t element = 1;                  ///< bytes of an element: a reduction combines whole ones
  std::uint64_t bytes = 0;                    ///< of one block
  std::uint64_t pitch = 0;                    ///< distance of two blocks in a buffer that has several
  std::array<std::uint32_t, 3> parameters{};  ///< in the order of CollectiveAlgorithm::parameters
  const void* context = nullptr;              ///< CollectiveAlgorithm::context of this process
};

/// Memory that a step names.
enum class StepMemory : std::uint8_t {
  input,      ///< the member's input: of a broadcast and a scatter, the root's alone
  output,     ///< the member's output: of a gather and a reduce, the root's alone
  scratch,    ///< of the operation, on each member: here peers put
  temporary,  ///< of this member alone
};
struct StepPlace {
  StepMemory memory = StepMemory::input;
  std::uint64_t offset = 0;
};

/// The most that any member needs. The same on all members, and for all roots.
struct AlgorithmNeeds {
  std::uint64_t scratch = 0;    ///< bytes
  std::uint64_t temporary = 0;  ///< bytes
  std::uint32_t counters = 0;
};

/// What is sent in all: a first guess of the time goes by it, before a replay.
struct AlgorithmCost {
  std::uint64_t messages = 0;  ///< puts and signals of all members
  std::uint64_t bytes = 0;     ///< of these puts
  std::uint32_t depth = 0;  ///< the longest chain of messages, each begun after the arrival of the one before
};

/// The steps of one member, in order. Members have *counters*, which begin at 0: a put or a signal of a peer raises one by 1,
/// a put after its bytes have arrived.
///
/// The steps of all members must fit together, or a call does not end: each counter that is raised is waited for, once for all
/// that ever raises it; nothing is put where a peer still reads. The library finds by itself when buffers may be touched.
class StepList {
 public:
  static constexpr std::uint32_t kNoCounter = 0xffff;

  /// Later steps begin when the counter has `total`: all that is ever added to it, since messages overtake one another. At most
  /// 65,535.
  void wait(std::uint32_t counter, std::uint32_t total) noexcept;
  /// Puts bytes into the peer's scratch, and raises its counter. Goes on while later steps run: the source may be overwritten
  /// when this member's counter `done` has been raised, if that is given, or when the operation is over.
  void put(Rank peer, StepPlace from, std::uint64_t to_scratch, std::uint64_t bytes, std::uint32_t counter,
           std::uint32_t done = kNoCounter) noexcept;
  /// Raises the peer's counter.
  void signal(Rank peer, std::uint32_t counter) noexcept;
  /// Copies bytes on this member. The same place twice is no error: the output may be the input.
  void copy(StepPlace from, StepPlace to, std::uint64_t bytes) noexcept;
  /// to = left ∘ right, in whole elements, on this member. `to` may be `left` or `right`; `left` has what comes earlier in the
  /// team.
  void reduce(StepPlace left, StepPlace right, StepPlace to, std::uint64_t bytes) noexcept;

  explicit StepList(detail::StepCollector& into) noexcept : into_(into) {}
  StepList(const StepList&) = delete;

 private:
  detail::StepCollector& into_;
};

/// An algorithm, for Config::add_algorithm. Settings, searches and files of decisions know it by its name.
///
/// The functions are pure: the same arguments give the same answers on every member, at any time. They are asked often (`build`
/// once for each step that is looked at), on any thread, and do not allocate or use the library. What they read of `context` is
/// the same on all ranks, and does not change.
struct CollectiveAlgorithm {
  std::string name;                                 ///< as AlgorithmParameter::name
  Collective operation = Collective::broadcast;     ///< from broadcast to exscan
  std::vector<AlgorithmParameter> parameters = {};  ///< at most 3
  /// Null if the algorithm can do this call; otherwise why not, in words that stay valid: sizes, numbers of members, modes,
  /// orders. No function: it can do all.
  const char* (*refusal)(const AlgorithmCall& call) noexcept = nullptr;
  AlgorithmNeeds (*needs)(const AlgorithmCall& call) noexcept = nullptr;
  AlgorithmCost (*cost)(const AlgorithmCall& call) noexcept = nullptr;
  /// Lists the steps of the member at this position.
  void (*build)(const AlgorithmCall& call, Rank member, StepList& steps) noexcept = nullptr;
  /// What the functions find in AlgorithmCall::context. Kept while a Config or a job has the algorithm.
  std::shared_ptr<const void> context = nullptr;
};

}  // namespace aqueduct
