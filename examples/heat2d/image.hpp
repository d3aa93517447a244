#pragma once

#include "heat2d/grid.hpp"

#include <string>
#include <vector>

namespace heat2d {

/// A greyscale picture as a field: black is 0, white is 1.
struct Image {
  Shape shape;
  std::vector<float> field;
};

/// Reads a PNG (of any kind; colours become grey) or a PGM (P2 or P5). The first bytes tell which.
///
/// Errors: ends the program with a message if the file is unreadable, damaged, or larger than 2^28 pixels.
Image read_image(const std::string& path);

/// Writes the field as a PNG: black, red, yellow, white from cold to hot. Errors: as read_image.
void write_png(const std::string& path, const Shape& shape, const std::vector<float>& field);

}  // namespace heat2d
