#pragma once

#include "bench/peers/mpi_vis/library.hpp"
#include "bench/peers/mpi_vis/turns.hpp"

namespace peers {

/// Prints rows as they come, as a table or as JSON, one object per line. The ratio is MPI's time by ours.
class Report {
 public:
  explicit Report(bool json) : json_(json) {}
  void head() const;
  void row(const Layout& layout, Operation operation, const Figure& mpi, const Figure& ours) const;

 private:
  bool json_;
};

}  // namespace peers
