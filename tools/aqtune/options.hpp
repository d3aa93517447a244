#pragma once

#include <aqueduct/tune.hpp>

#include "tools/aqtune/study.hpp"

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace aqueduct::aqtune {

/// What the user has given cannot be used.
struct BadInput : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Options {
  std::vector<Collective> operations;
  std::vector<std::uint64_t> bytes;
  std::uint32_t ranks = 0;  ///< without a launcher: how many to start; 0: two
  std::string conduit;      ///< empty: that of the environment
  std::string out;          ///< a file or a folder of decisions
  std::string report;       ///< a page; empty: none
  std::string from;         ///< a file of decisions to report on, without a job
  double seconds = 60;
  std::uint32_t candidates = 8;
  bool json = false;
  bool studies = false;  ///< no job: a study on simulated networks
  StudyOptions study;
};

/// "broadcast,all_reduce", or "all". Errors: BadInput, with the words that may be.
std::vector<Collective> read_operations(const std::string& text);
/// "8:1M": powers of four from the one to the other; "8,64,1000": these. Errors: BadInput.
std::vector<std::uint64_t> read_sizes(const std::string& text);
/// Errors: BadInput, if a reduction is measured and a size is no multiple of its element's.
void check_sizes(const std::vector<Collective>& operations, const std::vector<std::uint64_t>& bytes);

}  // namespace aqueduct::aqtune
