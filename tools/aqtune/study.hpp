#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace aqueduct::aqtune {

/// What a study goes through. All chance comes from the seed.
struct StudyOptions {
  std::uint32_t models = 50;                      ///< random machines
  std::vector<std::uint32_t> ranks{0, 100, 256};  ///< 0: by chance, 2 to 64
  std::uint32_t keys = 4;  ///< operations and sizes by chance, for each machine, topology and number of ranks
  std::uint32_t searched = 8;  ///< candidates that stage 1 measures
  std::uint64_t calls = 2000;  ///< of a key, while a team learns: stage 2
  double noise = 0;            ///< of measured times: Noise
  std::uint64_t seed = 1;
  bool json = false;
  /// In percent, the greatest p95 of each stage, and what a search may take of the time of an exhaustive one. Empty: any.
  std::vector<double> most;
};

/// What makes measured times longer: a factor of 1 + `size` times a number of an exponential distribution of mean 1, and 1 call in 20
/// takes 2 to 5 times as long, as on a machine that does something else. Without noise, if `size` is 0.
class Noise {
 public:
  Noise(double size, std::uint64_t seed) : size_(size), random_(seed) {}
  double factor();
  double mean() const;

 private:
  double size_;
  std::mt19937_64 random_;
};

/// A key of a study: how long each candidate takes on the simulated network, in the order of the model.
struct StudiedKey {
  std::string topology;
  std::uint32_t ranks = 0;
  std::string operation;
  std::uint64_t bytes = 0;
  std::vector<std::uint64_t> times;  ///< picoseconds

  /// How much longer the best of the model's first `tried` takes than the best of all: 0.05 is 5 %.
  double regret(std::size_t tried) const;
  /// What a team finds that learns while it makes so many calls, with the model's first `tried` as candidates.
  struct Learned {
    double regret = 0;  ///< of what it uses at the end
    double lost = 0;    ///< how much longer all calls have taken than with what it uses at the end
  };
  Learned learned(std::size_t tried, std::uint64_t calls, double noise = 0) const;
  /// What a search finds among the model's first `tried` (coll/tune/search.hpp).
  struct Searched {
    double regret = 0;
    /// The share of the time of an exhaustive search, which calls every candidate as often as this one may call any.
    double effort = 0;
    /// The same, if the exhaustive one calls every candidate only as often as this one has called its best.
    double effort_of_calls = 0;
  };
  Searched searched(std::size_t tried, double noise = 0) const;
};

/// Chooses by the model, as it would be calibrated on the network, and tries out all candidates on the network itself, whose
/// messages share links.
std::vector<StudiedKey> study(const StudyOptions& options);
/// The 95th percentile of the regrets of a stage, 0 to 2, in percent.
double p95_of_stage(const std::vector<StudiedKey>& keys, const StudyOptions& options, std::size_t stage);
/// What stage 1 takes of the time of an exhaustive search, on average, in percent.
double effort_of_search(const std::vector<StudiedKey>& keys, const StudyOptions& options);
/// Prints tables of regrets, and the search-quality curve.
void print_study(const std::vector<StudiedKey>& keys, const StudyOptions& options);

}  // namespace aqueduct::aqtune
