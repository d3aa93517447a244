#include "heat2d/image.hpp"

#include "common/check.hpp"

#include <png.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>

namespace heat2d {
namespace {

using example::fail;

constexpr std::size_t kMostPixels = std::size_t{1} << 28;  // chosen: 1 GiB of floats

void check_size(const std::string& path, std::size_t rows, std::size_t columns) {
  if (rows == 0 || columns == 0 || rows > kMostPixels / columns) {
    fail(path + ": " + std::to_string(columns) + " x " + std::to_string(rows) +
         " pixels; it must have at least one and at most 2^28");
  }
}

Image read_png(const std::string& path) {
  png_image png{};
  png.version = PNG_IMAGE_VERSION;
  if (png_image_begin_read_from_file(&png, path.c_str()) == 0) fail(path + ": " + png.message);
  check_size(path, png.height, png.width);
  png.format = PNG_FORMAT_GRAY;
  std::vector<std::uint8_t> pixels(PNG_IMAGE_SIZE(png));
  const png_color behind_transparent{0, 0, 0};
  if (png_image_finish_read(&png, &behind_transparent, pixels.data(), 0, nullptr) == 0) {
    fail(path + ": " + png.message);
  }
  Image image{{png.height, png.width}, {}};
  image.field.reserve(pixels.size());
  for (const std::uint8_t pixel : pixels) image.field.push_back(static_cast<float>(pixel) / 255.0F);
  return image;
}

/// Reads the text of a PGM: numbers between white space and comments, then perhaps raw bytes.
class PgmReader {
 public:
  PgmReader(const std::string& path, std::string text) : path_(path), text_(std::move(text)) {}

  std::size_t number(std::size_t most) {
    skip_space();
    std::size_t value = 0;
    const std::size_t begin = at_;
    while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9' && value <= most) {
      value = value * 10 + static_cast<std::size_t>(text_[at_++] - '0');
    }
    if (at_ == begin || value > most) {
      fail(path_ + ": expected a number up to " + std::to_string(most) + " at byte " + std::to_string(begin));
    }
    return value;
  }
  std::size_t raw(std::size_t bytes) {
    std::size_t value = 0;
    for (std::size_t i = 0; i < bytes; ++i) {
      if (at_ == text_.size()) fail(path_ + ": it ends before its last pixel");
      value = value * 256 + static_cast<std::uint8_t>(text_[at_++]);
    }
    return value;
  }
  void skip(std::size_t bytes) { at_ = std::min(at_ + bytes, text_.size()); }

 private:
  void skip_space() {
    while (at_ < text_.size()) {
      if (text_[at_] == '#') {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (text_[at_] == ' ' || (text_[at_] >= '\t' && text_[at_] <= '\r')) {
        ++at_;
      } else {
        return;
      }
    }
  }

  const std::string& path_;
  std::string text_;
  std::size_t at_ = 0;
};

Image read_pgm(const std::string& path, std::string text) {
  const bool is_raw = text[1] == '5';
  PgmReader reader(path, std::move(text));
  reader.skip(2);  // P2 or P5
  const std::size_t columns = reader.number(kMostPixels);
  const std::size_t rows = reader.number(kMostPixels);
  check_size(path, rows, columns);
  const std::size_t white = reader.number(65535);
  if (white == 0) fail(path + ": the value of white must not be 0");
  reader.skip(1);  // exactly one white space precedes raw pixels
  Image image{{rows, columns}, {}};
  for (std::size_t i = 0; i < image.shape.cells(); ++i) {
    const std::size_t pixel = is_raw ? reader.raw(white < 256 ? 1 : 2) : reader.number(white);
    image.field.push_back(static_cast<float>(std::min(pixel, white)) / static_cast<float>(white));
  }
  return image;
}

/// The brightness of a channel that rises from 0 at `begin` to 255 at `begin` + 1/3.
std::uint8_t ramp(float heat, float begin) {
  return static_cast<std::uint8_t>(std::clamp((heat - begin) * 3.0F, 0.0F, 1.0F) * 255.0F + 0.5F);
}

}  // namespace

Image read_image(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) fail(path + ": cannot open it; is the path right, and readable on the host of rank 0?");
  std::string start(2, '\0');
  file.read(start.data(), 2);
  if (start != "P2" && start != "P5") return read_png(path);
  return read_pgm(path, start + std::string(std::istreambuf_iterator<char>(file), {}));
}

void write_png(const std::string& path, const Shape& shape, const std::vector<float>& field) {
  std::vector<std::uint8_t> pixels;
  pixels.reserve(3 * field.size());
  for (const float heat : field) {
    for (const float begin : {0.0F, 1.0F / 3.0F, 2.0F / 3.0F}) pixels.push_back(ramp(heat, begin));
  }
  png_image png{};
  png.version = PNG_IMAGE_VERSION;
  png.width = static_cast<png_uint_32>(shape.columns);
  png.height = static_cast<png_uint_32>(shape.rows);
  png.format = PNG_FORMAT_RGB;
  // Not by png_image_write_to_file, which removes the file if it cannot write it, be it a device.
  std::FILE* const file = std::fopen(path.c_str(), "wb");
  if (file == nullptr) fail(path + ": " + std::strerror(errno));
  const bool written = png_image_write_to_stdio(&png, file, 0, pixels.data(), 0, nullptr) != 0;
  errno = 0;
  if (std::fclose(file) != 0 || !written)
    fail(path + ": " + (errno != 0 ? std::strerror(errno) : png.message));
}

}  // namespace heat2d
