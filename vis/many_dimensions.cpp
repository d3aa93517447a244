#include "vis/many_dimensions.hpp"

#include "core/signals.hpp"
#include "vis/accumulate.hpp"

#include <algorithm>
#include <memory>
#include <new>
#include <utility>

namespace aqueduct {

namespace vis {
namespace {

/// Merges dimensions that continue one another and leaves out those of one element; `bytes` grows by contiguous ones.
/// The outermost is first.
std::vector<Dimension> merged(std::span<const Dimension> dims, std::uint64_t& bytes) {
  std::vector<Dimension> out;  // the innermost first
  for (std::size_t i = dims.size(); i-- > 0;) {
    const Dimension& d = dims[i];
    if (d.count == 1) continue;
    std::uint64_t count = 0;
    std::int64_t stride = 0;
    if (out.empty()) {
      if (d.stride == static_cast<std::int64_t>(bytes) && !__builtin_mul_overflow(bytes, d.count, &count)) {
        bytes = count;
        continue;
      }
    } else if (const Dimension& below = out.back();
               !__builtin_mul_overflow(below.stride, below.count, &stride) && d.stride == stride &&
               !__builtin_mul_overflow(below.count, d.count, &count)) {
      out.back().count = count;
      continue;
    }
    out.push_back(d);
  }
  std::ranges::reverse(out);
  return out;
}

/// One side of a transfer, from which loops are taken, the slowest first.
class Side {
 public:
  Side(const Shape& shape, const std::vector<Dimension>* slowest, std::uint64_t origin)
      : base_(shape.base + origin), bytes_(shape.bytes) {
    std::vector<Dimension> all;
    if (slowest != nullptr) all = *slowest;
    for (std::uint32_t i = 0; i < shape.dimensions; ++i)
      all.push_back({shape.dims[i].count, shape.dims[i].stride});
    dims_ = merged(all, bytes_);
  }

  std::size_t depth() const noexcept { return dims_.size() - first_; }
  /// The number of parts into which the slowest loop falls; 0: the bytes are contiguous.
  std::uint64_t count() const noexcept { return depth() != 0 ? dims_[first_].count : 0; }
  /// Becomes the first of `parts` equal parts of the bytes. Returns the way to the next one; nothing if it cannot be
  /// divided so.
  std::optional<std::uint64_t> divide(std::uint64_t parts) noexcept {
    if (depth() == 0) {
      if (bytes_ % parts != 0) return std::nullopt;
      return bytes_ /= parts;
    }
    Dimension& d = dims_[first_];
    if (d.count % parts != 0) return std::nullopt;
    const std::uint64_t left = d.count / parts;
    const std::uint64_t step = left * static_cast<std::uint64_t>(d.stride);
    if (left == 1) {
      ++first_;
    } else {
      d.count = left;
    }
    return step;
  }
  void move(std::uint64_t by) noexcept { base_ += by; }
  std::uint64_t base() const noexcept { return base_; }
  /// The shape of what is left, without its base. Requires: depth() <= kMostDimensions.
  Shape shape() const noexcept {
    Shape out;
    out.bytes = bytes_;
    out.dimensions = static_cast<std::uint32_t>(depth());
    for (std::size_t i = 0; i < depth(); ++i)
      out.dims[i] = {dims_[first_ + i].count, dims_[first_ + i].stride};
    return out;
  }
  /// Whether all strides are multiples of `width`, so that its elements are as aligned as the first one.
  bool strides_fit(std::uint64_t width) const noexcept {
    return std::ranges::all_of(
        dims_, [&](const Dimension& d) { return static_cast<std::uint64_t>(d.stride) % width == 0; });
  }
  /// All its bytes, and the range in which they lie. False: the numbers overflow.
  bool measure(std::uint64_t& total, std::int64_t& lowest, std::uint64_t& extent) const noexcept {
    std::int64_t highest = 0;
    lowest = static_cast<std::int64_t>(base_);
    total = extent = 0;
    // No element: then the other counts may be of any size.
    if (bytes_ == 0 || std::ranges::any_of(dims_, [](const Dimension& d) { return d.count == 0; }))
      return true;
    total = bytes_;
    if (__builtin_add_overflow(lowest, static_cast<std::int64_t>(bytes_), &highest)) return false;
    for (const Dimension& d : dims_) {
      std::int64_t reach = 0;
      if (__builtin_mul_overflow(total, d.count, &total)) return false;
      if (__builtin_mul_overflow(d.stride, d.count - 1, &reach)) return false;
      std::int64_t& end = reach < 0 ? lowest : highest;
      if (__builtin_add_overflow(end, reach, &end)) return false;
    }
    return !__builtin_sub_overflow(highest, lowest, &extent);
  }

 private:
  std::uint64_t base_;
  std::uint64_t bytes_;
  std::size_t first_ = 0;  ///< of the dimensions that are left
  std::vector<Dimension> dims_;
};

/// Calls `run` for each pair of parts with few enough dimensions. The sides are copied for each level of loops, of which
/// there are few. Requires: both have the same number of bytes, and not none.
template <class Run>
Status each_part(Side there, Side here, const Run& run) {
  if (there.depth() <= kMostDimensions && here.depth() <= kMostDimensions) return run(there, here);
  const std::uint64_t a = there.count();
  const std::uint64_t b = here.count();
  const std::uint64_t parts = a == 0 ? b : b == 0 ? a : std::min(a, b);
  const auto step_there = there.divide(parts);
  const auto step_here = here.divide(parts);
  if (!step_there || !step_here) return ErrorCode::invalid_argument;
  for (std::uint64_t i = 0; i < parts; ++i) {
    if (const Status status = each_part(there, here, run); !status) return status;
    there.move(*step_there);
    here.move(*step_here);
  }
  return {};
}

Begun refuse(ErrorCode code, Rank rank) noexcept {
  const Status status{code, rank};
  return {status, Event(status)};
}

/// Begins each part, as a member of `group`; null: each is over when this returns. Lack of memory is a status like any other
/// here: parts may have begun, and their group must end.
Status begin_parts(EndpointState& state, const Request& request, const Side& there, const Side& here,
                   core::Op* group) noexcept try {
  const Rank peer = request.base.rank();
  PutOptions options{request.options.source, nullptr, request.options.immediate};
  // A single Event cannot stand for the sources of many transfers, so each is free when its call returns.
  if (options.source == SourceReuse::on_event) options.source = SourceReuse::at_return;
  const Completion completion = group != nullptr ? Completion::group : Completion::blocking;
  return each_part(there, here, [&](const Side& far, const Side& own) {
    const Shape far_shape = far.shape();
    const Shape own_shape = own.shape();
    const GlobalPtr<std::byte> at{peer, far.base(), request.base.segment()};
    const Status part = state.vis
                            ->start({request.what, request.type, at, far_shape, own.base(), own_shape,
                                     options, nullptr, group},
                                    completion)
                            .status;
    if (part) options.immediate = false;  // a part has begun: the rest can no longer be refused
    return part;
  });
} catch (const std::bad_alloc&) {
  return {ErrorCode::no_memory, request.base.rank()};
}

Begun start_parts(EndpointState& state, const Request& request, const Side& there, const Side& here,
                  Completion completion) noexcept {
  if (state.polling) {  // a handler begins no operation, but what is mapped is copied in the call
    const Status status = begin_parts(state, request, there, here, nullptr);
    return {status, Event(status)};
  }
  auto begun = state.transfers->begin(core::kGroup, request.base.rank(), completion,
                                      request.options.immediate, request.options.group);
  if (!begun) return {begun.status(), Event(begun.status())};
  core::Op& group = **begun;
  const Status status = begin_parts(state, request, there, here, &group);
  return state.transfers->finish(group, status, completion, true);
}

}  // namespace

Begun start_many(EndpointState& state, const Request& request, const std::vector<Dimension>* there,
                 const std::vector<Dimension>* here, Completion completion) noexcept try {
  const Rank peer = request.base.rank();
  if (request.options.source_event != nullptr) *request.options.source_event = Event{};
  for (const Shape* shape : {&request.there, &request.here}) {
    if (shape->problem != ErrorCode::ok) {
      state.log.error("pieces with rank {}: {}", peer, text_of(Problem::section, *shape));
      return refuse(shape->problem, peer);
    }
    if (shape->kind != Shape::Kind::strided) {
      state.log.error("pieces with rank {}: a shape of more than {} dimensions goes with strided shapes only",
                      peer, kMostDimensions);
      return refuse(ErrorCode::invalid_argument, peer);
    }
  }
  const Side far(request.there, there, request.base.offset());
  const Side own(request.here, here, request.here_base);
  std::uint64_t bytes = 0;
  std::uint64_t own_bytes = 0;
  std::int64_t lowest = 0;
  std::int64_t own_lowest = 0;
  std::uint64_t extent = 0;
  std::uint64_t own_extent = 0;
  if (!far.measure(bytes, lowest, extent) || !own.measure(own_bytes, own_lowest, own_extent) ||
      bytes != own_bytes) {
    state.log.error("pieces with rank {}: {} bytes there and {} here, or numbers that overflow", peer, bytes,
                    own_bytes);
    return refuse(ErrorCode::invalid_argument, peer);
  }
  if (own_bytes != 0 && own_lowest <= 0) {
    state.log.error("pieces with rank {}: the local side: a null pointer, or an address below it", peer);
    return refuse(ErrorCode::invalid_argument, peer);
  }
  // Without bytes, only the rank and the segment must exist.
  const std::uint64_t from = bytes != 0 ? static_cast<std::uint64_t>(lowest) : 0;
  const auto part = state.segments.check({peer, from, request.base.segment()}, extent);
  if (!part) {
    if (!state.in_child())
      state.log.error("pieces with rank {}, segment {}: there are no {} bytes at offset {}", peer,
                      request.base.segment(), extent, lowest);
    return {part.status(), Event(part.status())};
  }
  if (request.signal != nullptr) {
    if (const Status slot = core::check_user_slot(state, peer, request.signal->slot); !slot)
      return refuse(slot.code(), peer);
  }
  // Whether the parts fit is known before any of them moves, and whether all elements are aligned.
  if (const std::uint64_t width = request.what == What::accumulate ? atomic_bytes(request.type) : 1;
      bytes != 0 && width != 1 && (!(*part)->aligned(far.base(), width) || !far.strides_fit(width))) {
    state.log.error("pieces with rank {}: an element of the target is not at a multiple of {} bytes", peer,
                    width);
    return refuse(ErrorCode::misaligned, peer);
  }
  const auto nothing = [](const Side&, const Side&) { return Status{}; };
  if (bytes != 0 && !each_part(far, own, nothing)) {
    state.log.error(
        "pieces with rank {}: more than {} dimensions, whose counts the other side's do not divide", peer,
        kMostDimensions);
    return refuse(ErrorCode::invalid_argument, peer);
  }
  if (request.signal == nullptr) {
    return bytes != 0 ? start_parts(state, request, far, own, completion) : Begun{};
  }
  if (bytes != 0) {
    if (Begun put = start_parts(state, request, far, own, Completion::blocking); !put.status) return put;
  }
  return state.transfers->signal(peer, *request.signal, completion);
} catch (const std::bad_alloc&) {
  return refuse(ErrorCode::no_memory, request.base.rank());
}

}  // namespace vis

namespace detail {

void keep_many(Strided& strided, std::size_t element_bytes, std::span<const Dimension> dims) noexcept try {
  std::uint64_t bytes = element_bytes;
  std::vector<Dimension> all = vis::merged(dims, bytes);
  const std::size_t fast = std::min(all.size(), kMostDimensions);
  const std::size_t slow = all.size() - fast;
  strided.shape.bytes = bytes;
  strided.shape.dimensions = static_cast<std::uint32_t>(fast);
  for (std::size_t i = 0; i < fast; ++i) strided.shape.dims[i] = {all[slow + i].count, all[slow + i].stride};
  if (slow == 0) return;
  all.resize(slow);
  strided.slowest = std::make_shared<const std::vector<Dimension>>(std::move(all));
} catch (const std::bad_alloc&) {
  strided.shape.problem = ErrorCode::no_memory;
}

}  // namespace detail

}  // namespace aqueduct
