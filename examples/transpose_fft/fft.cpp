#include "transpose_fft/fft.hpp"

#include <algorithm>
#include <numbers>
#include <utility>

namespace transpose_fft {

namespace {

/// The product of two numbers that are neither infinite nor NaN. The operator of std::complex handles these too, which
/// costs a comparison for each product.
Complex times(Complex a, Complex b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

/// Fours first: their butterfly needs three products for four numbers, and two passes of two need four.
std::size_t next_radix(std::size_t length) {
  if (length % 4 == 0) return 4;
  for (std::size_t factor = 2; factor * factor <= length; ++factor) {
    if (length % factor == 0) return factor;
  }
  return length;
}

}  // namespace

Complex root_of_unity(std::size_t index, std::size_t length) {
  const double turns = static_cast<double>(index % length) / static_cast<double>(length);
  return std::polar(1.0, -2 * std::numbers::pi * turns);
}

// Stockham's form of the fast Fourier transform: each pass writes to the other array, in an order such that the result
// is sorted without a pass of its own.
Fft::Fft(std::size_t length) : roots_(length), work_(length) {
  for (std::size_t k = 0; k < length; ++k) roots_[k] = root_of_unity(k, length);
  std::size_t largest = 0;
  for (std::size_t left = length, side_by_side = 1; left > 1;) {
    const std::size_t radix = next_radix(left);
    left /= radix;
    passes_.push_back({radix, left, side_by_side});
    side_by_side *= radix;
    largest = std::max(largest, radix);
  }
  terms_.resize(largest);
}

void Fft::transform(std::span<Complex> line) {
  Complex* from = line.data();
  Complex* to = work_.data();
  for (const Pass& pass : passes_) {
    switch (pass.radix) {
      case 2: by_two(pass, from, to); break;
      case 4: by_four(pass, from, to); break;
      default: by_any(pass, from, to); break;
    }
    std::swap(from, to);
  }
  if (from != line.data()) std::copy_n(from, line.size(), line.data());
}

void Fft::by_two(const Pass& pass, const Complex* from, Complex* to) const {
  const std::size_t width = pass.side_by_side;
  for (std::size_t part = 0; part < pass.parts; ++part) {
    const Complex turn = roots_[part * width];
    const Complex* const in = from + part * width;
    Complex* const out = to + part * width * 2;
    for (std::size_t k = 0; k < width; ++k) {
      const Complex a = in[k];
      const Complex b = in[k + pass.parts * width];
      out[k] = a + b;
      out[k + width] = times(a - b, turn);
    }
  }
}

void Fft::by_four(const Pass& pass, const Complex* from, Complex* to) const {
  const std::size_t width = pass.side_by_side;
  const std::size_t apart = pass.parts * width;
  for (std::size_t part = 0; part < pass.parts; ++part) {
    const Complex once = roots_[part * width];
    const Complex twice = roots_[2 * part * width];
    const Complex thrice = roots_[3 * part * width];
    const Complex* const in = from + part * width;
    Complex* const out = to + part * width * 4;
    for (std::size_t k = 0; k < width; ++k) {
      const Complex even_sum = in[k] + in[k + 2 * apart];
      const Complex even_difference = in[k] - in[k + 2 * apart];
      const Complex odd_sum = in[k + apart] + in[k + 3 * apart];
      const Complex odd_difference = in[k + apart] - in[k + 3 * apart];
      const Complex turned{odd_difference.imag(), -odd_difference.real()};  // times -i
      out[k] = even_sum + odd_sum;
      out[k + width] = times(even_difference + turned, once);
      out[k + 2 * width] = times(even_sum - odd_sum, twice);
      out[k + 3 * width] = times(even_difference - turned, thrice);
    }
  }
}

void Fft::by_any(const Pass& pass, const Complex* from, Complex* to) {
  const std::size_t width = pass.side_by_side;
  const std::size_t between = roots_.size() / pass.radix;  // from one root of the radix to the next
  for (std::size_t part = 0; part < pass.parts; ++part) {
    for (std::size_t k = 0; k < width; ++k) {
      for (std::size_t j = 0; j < pass.radix; ++j) terms_[j] = from[k + width * (part + pass.parts * j)];
      for (std::size_t r = 0; r < pass.radix; ++r) {
        Complex sum = terms_[0];
        for (std::size_t j = 1, root = r; j < pass.radix; ++j, root += r) {
          if (root >= pass.radix) root -= pass.radix;
          sum += times(terms_[j], roots_[root * between]);
        }
        to[k + width * (pass.radix * part + r)] = times(sum, roots_[part * r * width]);
      }
    }
  }
}

}  // namespace transpose_fft
