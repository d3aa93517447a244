#include "bench/peers/mpi_vis/turns.hpp"

#include "bench/peers/mpi_vis/check.hpp"
#include "bench/peers/mpi_vis/need.hpp"

#include <algorithm>
#include <cmath>
#include <string>

namespace peers {

namespace {

using Clock = std::chrono::steady_clock;
using Samples = std::vector<double>;

// Chosen. A sample is so long that reading the clock (some 25 ns) does not matter, and so short that other
// processes' time slices spoil few samples.
constexpr double kSampleNs = 20e3;
constexpr double kWarmUpNs = 100e6;
constexpr int kUntimed = 3;
constexpr int kFewestSamples = 3;
// More than the number of transfers in which Aqueduct tries each of its plans, so that every plan is checked.
constexpr int kChecks = 16;

double nanoseconds_since(Clock::time_point began) {
  return std::chrono::duration<double, std::nano>(Clock::now() - began).count();
}

/// The value below which the part `p` of the samples lies.
double percentile(Samples samples, double p) {
  const auto at = samples.begin() + std::lround(p * static_cast<double>(samples.size() - 1));
  std::nth_element(samples.begin(), at, samples.end());
  return *at;
}

/// Rank 0's value at both ranks: in an exchange both must count alike.
double as_rank_0_says(double value) {
  MPI_Bcast(&value, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  return value;
}

/// One library in a row.
class Subject {
 public:
  Subject(Library& library, Operation operation, const Layout& layout, const Meeting& meet)
      : library_(library), operation_(operation), layout_(layout), meet_(meet) {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  }

  /// Makes connections, touches pages and lets the library learn from its
  /// transfers; then divides a turn into samples.
  void warm_up(std::chrono::nanoseconds turn) {
    double each = as_rank_0_says(run(1, 5).front());
    each = as_rank_0_says(run(1, static_cast<int>(std::clamp(kWarmUpNs / each, 5.0, 1000.0))).front());
    batch_ = std::max(1, static_cast<int>(kSampleNs / each));
    samples_ =
        std::max(kFewestSamples, static_cast<int>(static_cast<double>(turn.count()) / (each * batch_)));
  }
  void turn() {
    Samples samples = run(samples_, batch_);
    medians_.push_back(percentile(samples, 0.5));
    all_.insert(all_.end(), samples.begin(), samples.end());
  }
  void check() {
    for (int i = 0; i < kChecks; ++i) {
      const std::uint64_t seed = ++seed_;
      prepare(library_, operation_, layout_, rank_, seed);
      library_.take(layout_);
      meet_();
      library_.once(operation_);
      library_.finish();
      look();
    }
  }
  /// Checks that memory holds what the last operation brought.
  void look() {
    if (!arrived(library_, operation_, layout_, rank_, seed_)) {
      fail(std::string(library_.name()) + " moved " + layout_.name() + " wrongly");
    }
    meet_();
  }
  Figure figure() const {
    const double ways = operation_ == Operation::exchange ? 2 : 1;
    return {percentile(medians_, 0.5) / ways, percentile(all_, 0.1) / ways, percentile(all_, 0.9) / ways};
  }

 private:
  Samples run(int samples, int batch) {
    library_.take(layout_);
    meet_();
    for (int i = 0; i < kUntimed; ++i) library_.once(operation_);
    Samples found;
    for (int i = 0; i < samples; ++i) {
      const auto began = Clock::now();
      for (int j = 0; j < batch; ++j) library_.once(operation_);
      found.push_back(nanoseconds_since(began) / batch);
    }
    library_.finish();
    return found;
  }

  Library& library_;
  Operation operation_;
  const Layout& layout_;
  const Meeting& meet_;
  int rank_ = 0;
  int samples_ = 0;
  int batch_ = 0;
  std::uint64_t seed_ = 0;
  Samples medians_;
  Samples all_;
};

}  // namespace

std::vector<Figure> measure(const std::vector<Library*>& libraries, Operation operation, const Layout& layout,
                            const Patience& patience, const Meeting& meet) {
  std::vector<Subject> subjects;
  for (Library* library : libraries) {
    subjects.emplace_back(*library, operation, layout, meet);
    subjects.back().warm_up(patience.turn);
    subjects.back().check();
  }
  for (int turn = 0; turn < patience.turns; ++turn) {
    // The order is reversed in every second turn, so that no library is always second.
    for (std::size_t i = 0; i < subjects.size(); ++i) {
      subjects[turn % 2 == 0 ? i : subjects.size() - 1 - i].turn();
    }
  }
  std::vector<Figure> figures;
  for (Subject& subject : subjects) {
    subject.look();
    figures.push_back(subject.figure());
  }
  return figures;
}

}  // namespace peers
