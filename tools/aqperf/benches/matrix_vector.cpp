#include <aqueduct/coll.hpp>

#include "tools/aqperf/apps/dense_matrix.hpp"
#include "tools/aqperf/apps/timed_app.hpp"
#include "tools/aqperf/bench.hpp"

#include <fmt/core.h>

#include <vector>

// A dense matrix times a vector (requirement HB-06): a scatter of columns, and in each turn a broadcast of the vector, the product of a
// rank's columns, and a reduce of the partial results.

namespace aqueduct::perf {

void matrix_vector(Session& session, Reporter& reporter) {
  const std::size_t rows = session.options().size != 0 ? session.options().size : kMatrixRows;
  Team& team = session.ep().world();
  const DenseMatrix matrix(rows, session.ranks());
  const std::vector<double> all =
      session.rank() == 0 ? matrix.blocks(session.ranks()) : std::vector<double>();
  std::vector<double> block(matrix.block()), vector(rows), partial(rows), product(rows);

  TimedApp app(session);
  app.begin_turn();
  app.collective([&] { return scatter(team, all, block, 0); }, "scatter");
  const double scattered = app.end_turn_apart().collective;
  for (std::size_t turn = 0; app.goes_on(); ++turn) {
    for (std::size_t i = 0; session.rank() == 0 && i < rows; ++i) vector[i] = DenseMatrix::input(i, turn);
    app.begin_turn();
    app.collective([&] { return broadcast(team, vector, 0); }, "broadcast");
    matrix.multiply(block, vector, session.rank(), partial);
    app.collective([&] { return reduce(team, partial, product, ReduceOp::sum, 0); }, "reduce");
    app.end_turn();
    const std::size_t row = turn * 31 % rows;  // one of each turn is looked at, outside of the time
    if (session.rank() == 0 && product[row] != matrix.expected(row, turn))
      throw Failure(fmt::format("row {} of turn {} is {} and should be {}", row, turn, product[row],
                                matrix.expected(row, turn)),
                    1);
  }
  Row row = app.row(rows * sizeof(double));
  row.extra.emplace_back("rows", static_cast<double>(rows));
  row.extra.emplace_back("scatter", scattered);
  reporter.add(row);
}

}  // namespace aqueduct::perf
