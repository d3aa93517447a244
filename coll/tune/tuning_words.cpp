// A tuning table as words: how it travels from rank 0 to all ranks.

#include "coll/algorithms/algorithms.hpp"
#include "coll/tune/barrier_shape.hpp"
#include "coll/tune/tuning_table.hpp"

#include <string_view>

namespace aqueduct::coll {

namespace {

constexpr std::uint64_t kForm = 0x74756e65'00000003;  // "tune", and the version of what follows

/// A number for the algorithm, the same in all builds that have it.
std::uint64_t number_of(const Algorithm* algorithm) noexcept {
  if (algorithm == nullptr) return 0;
  std::uint64_t number = 0xcbf29ce484222325u;
  for (const char letter : algorithm->name)
    number = (number ^ static_cast<unsigned char>(letter)) * 0x100000001b3u;
  return number | 1;
}

const Algorithm* algorithm_numbered(Operation operation, std::uint64_t number, AddedSpan added) noexcept {
  const auto is_it = [&](const Algorithm& one) {
    return one.operation == operation && number_of(&one) == number;
  };
  for (const Algorithm* const one : KnownAlgorithms(added)) {
    if (is_it(*one)) return one;
  }
  for (const Algorithm& one : board_algorithms()) {
    if (is_it(one)) return &one;
  }
  const Algorithm* const native = native_algorithm(operation);
  return native != nullptr && is_it(*native) ? native : nullptr;
}

class WordWriter {
 public:
  explicit WordWriter(std::vector<std::uint64_t>& out) : out_(out) {}
  void word(std::uint64_t value) { out_.push_back(value); }
  void pair(std::uint32_t low, std::uint32_t high) { word(low | std::uint64_t{high} << 32); }

  void model(const std::optional<NetworkModel>& model) {
    pair(model ? model->sizes : 0, model ? static_cast<std::uint32_t>(model->origin) : 0);
    if (!model) return;
    word(model->copy_femtoseconds_per_byte);
    word(model->reduce_femtoseconds_per_byte);
    for (const NetworkCost& cost : model->costs()) {
      word(cost.bytes);
      word(static_cast<std::uint64_t>(cost.latency.count()));
      word(static_cast<std::uint64_t>(cost.overhead.count()));
      word(static_cast<std::uint64_t>(cost.gap.count()));
      word(cost.femtoseconds_per_byte);
    }
  }
  void timed(const Timed& one) {
    word(number_of(one.algorithm));
    pair(one.wanted[0], one.wanted[1]);
    word(one.wanted[2]);
    word(one.picoseconds);
  }
  void decision(const Decision& one) {
    const auto byte = [](auto value, int place) { return static_cast<std::uint64_t>(value) << (8 * place); };
    const TuningKey& key = one.key;
    word(byte(key.operation, 0) | byte(key.in, 1) | byte(key.out, 2) | byte(key.addresses, 3) |
         byte(key.order, 4) | byte(key.commutative, 5) | byte(key.kind, 6) | byte(key.crowded, 7));
    pair(key.ranks, key.element);
    pair(key.size, one.samples);
    word(key.hosts);
    timed(one.best);
    timed(one.runner_up);
  }

 private:
  std::vector<std::uint64_t>& out_;
};

class WordReader {
 public:
  WordReader(std::span<const std::uint64_t> in, AddedSpan added) noexcept : in_(in), added_(added) {}
  bool ok() const noexcept { return ok_; }
  bool at_end() const noexcept { return in_.empty(); }
  void fail() noexcept { ok_ = false; }

  std::uint64_t word() noexcept {
    if (in_.empty()) {
      ok_ = false;
      return 0;
    }
    const std::uint64_t value = in_.front();
    in_ = in_.subspan(1);
    return value;
  }
  std::uint64_t word_up_to(std::uint64_t most) noexcept {
    const std::uint64_t value = word();
    if (value > most) ok_ = false;
    return value <= most ? value : 0;
  }
  std::optional<NetworkModel> model() noexcept {
    const std::uint64_t head = word();
    const auto sizes = static_cast<std::uint32_t>(head);
    if (sizes == 0 || sizes > NetworkModel::kMostCosts || (head >> 32) > 2) {
      if (head != 0) ok_ = false;
      return std::nullopt;
    }
    NetworkModel model;
    model.origin = static_cast<NetworkModel::Origin>(head >> 32);
    model.sizes = sizes;
    model.copy_femtoseconds_per_byte = word();
    model.reduce_femtoseconds_per_byte = word();
    for (std::uint32_t i = 0; i < sizes; ++i) {
      const auto time = [&] { return picoseconds(word_up_to(INT64_MAX)); };
      NetworkCost& cost = model.by_size[i];
      cost.bytes = word();
      cost.latency = time();
      cost.overhead = time();
      cost.gap = time();
      cost.femtoseconds_per_byte = word();
    }
    return model;
  }
  Timed timed(Operation operation) noexcept {
    Timed one;
    const std::uint64_t number = word();
    one.algorithm = algorithm_numbered(carried_out_as(operation), number, added_);
    if (number != 0 && one.algorithm == nullptr) ok_ = false;
    const std::uint64_t wanted = word();
    one.wanted = {static_cast<std::uint32_t>(wanted), static_cast<std::uint32_t>(wanted >> 32),
                  static_cast<std::uint32_t>(word_up_to(UINT32_MAX))};
    one.picoseconds = word();
    return one;
  }
  Decision decision() noexcept {
    Decision one;
    const std::uint64_t modes = word();
    const auto byte = [&](int place, std::uint64_t most) {
      const std::uint64_t value = modes >> (8 * place) & 0xff;
      if (value > most) ok_ = false;
      return value <= most ? value : 0;
    };
    TuningKey& key = one.key;
    key.operation = static_cast<Operation>(byte(0, static_cast<std::uint64_t>(Operation::all_to_all_v)));
    key.in = static_cast<Sync>(byte(1, 2));
    key.out = static_cast<Sync>(byte(2, 2));
    key.addresses = static_cast<Addresses>(byte(3, 1));
    key.order = static_cast<Order>(byte(4, 2));
    key.commutative = byte(5, 1) != 0;
    key.kind = static_cast<TeamKind>(byte(6, 2));
    key.crowded = static_cast<Crowding>(byte(7, 2));
    const std::uint64_t team = word();
    key.ranks = static_cast<Rank>(team);
    key.element = static_cast<std::uint32_t>(team >> 32);
    const std::uint64_t size = word();
    key.size = static_cast<std::uint32_t>(size);
    if (key.size >= kSizeClasses || key.element == 0 || key.ranks == 0) ok_ = false;
    one.samples = static_cast<std::uint32_t>(size >> 32);
    key.hosts = static_cast<Rank>(word_up_to(key.ranks));
    one.best = timed(key.operation);
    one.runner_up = timed(key.operation);
    if (one.best.algorithm == nullptr) ok_ = false;
    return one;
  }

 private:
  static aqueduct::Picoseconds picoseconds(std::uint64_t count) noexcept {
    return aqueduct::Picoseconds(static_cast<std::int64_t>(count));
  }

  std::span<const std::uint64_t> in_;
  AddedSpan added_;
  bool ok_ = true;
};

}  // namespace

std::vector<std::uint64_t> TuningTable::words() const {
  std::vector<std::uint64_t> out;
  WordWriter writer(out);
  writer.word(kForm);
  writer.model(host_);
  writer.model(network_);
  writer.word(decisions_.size());
  for (const Decision& one : decisions_) writer.decision(one);
  return out;
}

std::optional<TuningTable> TuningTable::from(std::span<const std::uint64_t> words, AddedSpan added) {
  WordReader reader(words, added);
  if (reader.word() != kForm) return std::nullopt;
  Models models;
  models.host = reader.model();
  models.network = reader.model();
  const std::uint64_t count = reader.word_up_to(kMostDecisions);
  std::vector<Decision> decisions;
  for (std::uint64_t i = 0; i < count && reader.ok(); ++i) decisions.push_back(reader.decision());
  if (!reader.ok() || !reader.at_end()) return std::nullopt;
  return TuningTable(models, decisions);
}

}  // namespace aqueduct::coll
