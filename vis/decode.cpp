#include "vis/decode.hpp"

#include "vis/survey.hpp"
#include "vis/varint.hpp"

#include <algorithm>

namespace aqueduct::vis {

Decoder::Decoder(DescriptionKind form, core::Bytes description, std::uint64_t base, std::uint64_t limit,
                 std::uint64_t data_bytes) noexcept
    : form_(form), rest_(description), base_(base), limit_(limit), left_(data_bytes) {
  if (form == DescriptionKind::strided) {
    begin_strided();
  } else if (form == DescriptionKind::indexed) {
    good_ = read_varint(rest_, piece_) && read_varint(rest_, within_) && within_ < piece_;
  } else {
    good_ = form == DescriptionKind::vector;
  }
}

bool Decoder::fail() noexcept {
  good_ = false;
  return false;
}

// A strided description is short, so it is checked as a whole: the survey gives the lowest and highest byte.
void Decoder::begin_strided() noexcept {
  std::uint64_t dimensions = 0;
  shape_.base = base_;
  good_ = read_varint(rest_, shape_.bytes) && read_varint(rest_, dimensions) && dimensions <= kMostDimensions;
  if (!good_) return;
  shape_.dimensions = static_cast<std::uint32_t>(dimensions);
  for (std::uint32_t i = 0; i < shape_.dimensions; ++i) {
    std::uint64_t stride = 0;
    good_ = good_ && read_varint(rest_, shape_.dims[i].count) && read_varint(rest_, stride);
    shape_.dims[i].stride = unzigzag(stride);
  }
  std::uint64_t before = 0;
  good_ = good_ && read_varint(rest_, before);
  if (!good_) return;
  const Survey found = survey(shape_);
  good_ = found.problem == Problem::none && found.lowest >= 0 &&
          static_cast<std::uint64_t>(found.highest) <= limit_ && before <= found.bytes &&
          left_ <= found.bytes - before;
  if (!good_ || left_ == 0) return;
  cursor_ = Cursor(shape_, found.bytes);
  cursor_.skip(before);
}

bool Decoder::next(Row& row) noexcept {
  if (!good_ || left_ == 0) return false;
  switch (form_) {
    case DescriptionKind::strided: return next_strided(row);
    case DescriptionKind::indexed: return next_indexed(row);
    default: return next_vector(row);
  }
}

bool Decoder::next_strided(Row& row) noexcept {
  row = cursor_.row();
  if (row.bytes > left_) row = {row.at, left_, 0, 1};
  row.count = std::min(row.count, left_ / row.bytes);
  const std::uint64_t bytes = row.count * row.bytes;
  cursor_.step(bytes);
  left_ -= bytes;
  return true;
}

bool Decoder::next_indexed(Row& row) noexcept {
  // Packets cut pieces anywhere. So the first piece may lack its beginning and the last its end; each of these two is
  // returned as a row of its own. All whole pieces between them become rows of up to kBatch pieces.
  std::size_t count = 0;
  while (count < kBatch && left_ >= piece_ && within_ == 0) {
    std::uint64_t delta = 0;
    if (!read_varint(rest_, delta)) return fail();
    const std::uint64_t at = end_ + static_cast<std::uint64_t>(unzigzag(delta));
    if (!inside(base_ + at, piece_))
      return fail();  // the whole pieces before this one are not returned either
    offsets_[count++] = static_cast<std::int64_t>(at);
    end_ = at + piece_;
    left_ -= piece_;
  }
  if (count != 0) {
    row = {base_, piece_, 0, count, offsets_.data()};
    return true;
  }
  std::uint64_t delta = 0;
  if (!read_varint(rest_, delta)) return fail();
  const std::uint64_t at = end_ + static_cast<std::uint64_t>(unzigzag(delta));
  const std::uint64_t bytes = std::min(piece_ - within_, left_);
  if (!inside(base_ + at + within_, bytes)) return fail();
  row = {base_ + at + within_, bytes, 0, 1};
  within_ = 0;
  end_ = at + piece_;
  left_ -= bytes;
  return true;
}

bool Decoder::next_vector(Row& row) noexcept {
  std::uint64_t delta = 0;
  std::uint64_t bytes = 0;
  if (!read_varint(rest_, delta) || !read_varint(rest_, bytes)) return fail();
  const std::uint64_t at = end_ + static_cast<std::uint64_t>(unzigzag(delta));
  if (bytes == 0 || bytes > left_ || !inside(base_ + at, bytes)) return fail();
  row = {base_ + at, bytes, 0, 1};
  end_ = at + bytes;
  left_ -= bytes;
  return true;
}

}  // namespace aqueduct::vis
