#pragma once

#include <aqueduct/tune.hpp>

#include "tools/aqtune/study.hpp"

#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace aqueduct::aqtune {

/// What the user has given cannot be used.
struct BadInput : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Options {
  std::vector<Collective> operations;
  std::vector<std::uint64_t> bytes;
  std::vector<std::pair<Sync, Sync>> syncs{{Sync::all, Sync::all}};  ///< searched one after the other
  std::vector<ElementType> types{ElementType::f64};                  ///< of reductions, likewise
  std::uint32_t ranks = 0;  ///< without a launcher: how many to start; 0: two
  std::string conduit;      ///< empty: that of the environment
  std::string out;          ///< a file or a folder of decisions
  std::string report;       ///< a page; empty: none
  std::string from;         ///< a file of decisions to report on, without a job
  double seconds = 60;
  std::uint32_t candidates = 8;
  std::uint32_t exhaustive = 0;  ///< 0: not
  bool json = false;
  bool studies = false;  ///< no job: a study on simulated networks
  StudyOptions study;
};

/// What a search is for, beside operations and sizes.
struct Way {
  std::pair<Sync, Sync> sync;
  ElementType type;
};
/// The ways to search: all operations in each pair of modes with the first type, reductions with the other types too.
std::vector<std::pair<Way, std::vector<Collective>>> ways_of(const Options& options);

/// "broadcast,all_reduce", or "all". Errors: BadInput, with the words that may be.
std::vector<Collective> read_operations(const std::string& text);
/// "all,mine:none": the sync modes at the begin and at the end of calls, the same ones if only one is named. Errors: BadInput.
std::vector<std::pair<Sync, Sync>> read_syncs(const std::string& text);
/// "f64,f32": what reductions add up. Of one size only one may be named, since decisions hold for all elements of a size.
/// Errors: BadInput.
std::vector<ElementType> read_types(const std::string& text);
/// Whether the operation combines elements.
bool combines(Collective operation) noexcept;
std::uint64_t bytes_of(ElementType type) noexcept;
/// "8:1M": powers of four from the one to the other; "8,64,1000": these. Errors: BadInput.
std::vector<std::uint64_t> read_sizes(const std::string& text);
/// Errors: BadInput, if a reduction is measured and a size is no multiple of each of its elements'.
void check_sizes(const std::vector<Collective>& operations, const std::vector<std::uint64_t>& bytes,
                 const std::vector<ElementType>& types);

}  // namespace aqueduct::aqtune
