#pragma once

#include <complex>
#include <cstddef>
#include <span>
#include <vector>

namespace transpose_fft {

using Complex = std::complex<double>;

/// exp(-2πi · index / length).
Complex root_of_unity(std::size_t index, std::size_t length);

/// The discrete Fourier transform of lines of one length: out[k] is the sum of in[j] · exp(-2πi · jk / length).
///
/// Any length from 1 on. Cost: about length × the sum of its prime factors, so lengths with small factors are fast.
class Fft {
 public:
  explicit Fft(std::size_t length);

  /// In place. Shape: `line` has `length` elements.
  void transform(std::span<Complex> line);

 private:
  /// A transform of length radix × parts becomes `radix` ones of length `parts`, for `side_by_side` interleaved
  /// transforms at once.
  struct Pass {
    std::size_t radix;
    std::size_t parts;
    std::size_t side_by_side;
  };
  void by_two(const Pass& pass, const Complex* from, Complex* to) const;
  void by_four(const Pass& pass, const Complex* from, Complex* to) const;
  void by_any(const Pass& pass, const Complex* from, Complex* to);

  std::vector<Complex> roots_;  // of unity: roots_[k] is exp(-2πi · k / length)
  std::vector<Pass> passes_;
  std::vector<Complex> work_;   // of one line
  std::vector<Complex> terms_;  // of one butterfly of by_any
};

}  // namespace transpose_fft
