// The text of a file of decisions.

#include "coll/tune/coll_settings.hpp"
#include "coll/tune/operation_word.hpp"
#include "coll/tune/tuning_file.hpp"
#include "coll/tune/tuning_table.hpp"
#include "core/json_reader.hpp"

#include <fmt/format.h>

#include <array>
#include <optional>

namespace aqueduct::coll {

namespace {

using core::Json;

constexpr std::array<std::string_view, 3> kSyncs{"none", "mine", "all"};
constexpr std::array<std::string_view, 2> kAddresses{"single", "local"};
constexpr std::array<std::string_view, 3> kOrders{"any", "same_everywhere", "exact"};
constexpr std::array<std::string_view, 3> kKinds{"mapped", "host", "network"};
constexpr std::string_view kAgain = "tune again with `aqtune`";

/// As it is written between quotation marks. Control characters have no place in a name.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += static_cast<unsigned char>(c) >= ' ' ? c : '?';
  }
  return out;
}

bool same_name(std::string_view read, std::string_view mine) { return escaped(read) == escaped(mine); }

template <std::size_t N, class E>
std::string_view word_of(const std::array<std::string_view, N>& words, E value) {
  return words[static_cast<std::size_t>(value)];
}

std::string line_of(const Decision& one, const std::string& network) {
  const TuningKey& key = one.key;
  std::string line = fmt::format(
      R"(    {{"operation": "{}", "team": "{}", "ranks": {}, "bytes": {}, "element": {}, "in": "{}", "out": "{}", )"
      R"("addresses": "{}", "order": "{}", "commutative": {}, "algorithm": "{}", "median_ps": {}, "samples": {})",
      operation_word(key.operation), word_of(kKinds, key.kind), key.ranks, least_bytes_of(key.size),
      key.element, word_of(kSyncs, key.in), word_of(kSyncs, key.out), word_of(kAddresses, key.addresses),
      word_of(kOrders, key.order), key.commutative, name_of(one.best), one.best.picoseconds, one.samples);
  if (key.crowded != Crowding::unknown)
    line += fmt::format(R"(, "crowded": {})", key.crowded == Crowding::yes);
  if (key.hosts != 0) line += fmt::format(R"(, "hosts": {})", key.hosts);
  if (!network.empty()) line += fmt::format(R"(, "network": "{}")", escaped(network));
  if (one.runner_up.algorithm != nullptr) {
    line += fmt::format(R"(, "runner_up": "{}", "runner_up_ps": {})", name_of(one.runner_up),
                        one.runner_up.picoseconds);
  }
  return line + "}";
}

/// Reads the members of an entry. `ok` says afterwards whether all were there and made sense.
class EntryReader {
 public:
  EntryReader(const Json& entry, AddedSpan added) noexcept : entry_(entry), added_(added) {}
  bool ok = true;

  std::string_view text(const char* name) {
    const Json* const found = entry_.find(name);
    if (found == nullptr || found->kind != Json::Kind::text) {
      ok = false;
      return {};
    }
    return found->text;
  }
  std::uint64_t number(const char* name, std::uint64_t least, std::uint64_t most) {
    const Json* const found = entry_.find(name);
    const auto value = found != nullptr ? found->whole() : std::nullopt;
    if (!value || *value < least || *value > most) {
      ok = false;
      return least;
    }
    return *value;
  }
  bool truth(const char* name) {
    const Json* const found = entry_.find(name);
    if (found == nullptr || found->kind != Json::Kind::boolean) ok = false;
    return found != nullptr && found->boolean;
  }
  template <class E, std::size_t N>
  E word(const char* name, const std::array<std::string_view, N>& words) {
    const std::string_view value = text(name);
    for (std::size_t i = 0; i < N; ++i) {
      if (words[i] == value) return static_cast<E>(i);
    }
    ok = false;
    return E{};
  }
  Operation operation() {
    const std::string_view value = text("operation");
    for (std::size_t i = 0; i <= static_cast<std::size_t>(Operation::all_to_all_v); ++i) {
      if (operation_word(static_cast<Operation>(i)) == value) return static_cast<Operation>(i);
    }
    ok = false;
    return Operation::barrier;
  }
  Timed timed(Operation operation, const char* algorithm, const char* time) {
    const ForcedRead read = read_setting_of(operation, text(algorithm), added_);
    if (read.forced.algorithm == nullptr || !read.problem.empty()) ok = false;
    return {read.forced.algorithm, read.forced.wanted, number(time, 0, std::uint64_t{1} << 53)};
  }
  bool has(const char* name) const noexcept { return entry_.find(name) != nullptr; }

 private:
  const Json& entry_;
  AddedSpan added_;
};

std::optional<Decision> read_entry(const Json& entry, AddedSpan added, std::string& network) {
  EntryReader in(entry, added);
  if (in.has("network")) network = in.text("network");
  Decision out;
  TuningKey& key = out.key;
  key.operation = in.operation();
  key.kind = in.word<TeamKind>("team", kKinds);
  key.ranks = static_cast<Rank>(in.number("ranks", 1, UINT32_MAX - 1));
  key.crowded = Crowding::unknown;
  if (in.has("crowded")) key.crowded = in.truth("crowded") ? Crowding::yes : Crowding::no;
  if (in.has("hosts")) key.hosts = static_cast<Rank>(in.number("hosts", 1, key.ranks));
  key.size = size_class(in.number("bytes", 0, std::uint64_t{1} << 53));
  key.element = static_cast<std::uint32_t>(in.number("element", 1, UINT32_MAX));
  key.in = in.word<Sync>("in", kSyncs);
  key.out = in.word<Sync>("out", kSyncs);
  key.addresses = in.word<Addresses>("addresses", kAddresses);
  key.order = in.word<Order>("order", kOrders);
  key.commutative = in.truth("commutative");
  out.best = in.timed(key.operation, "algorithm", "median_ps");
  out.samples = static_cast<std::uint32_t>(in.number("samples", 0, UINT32_MAX));
  if (in.has("runner_up")) out.runner_up = in.timed(key.operation, "runner_up", "runner_up_ps");
  return in.ok ? std::optional(out) : std::nullopt;
}

}  // namespace

std::string name_of(const Timed& one) {
  std::string text(one.algorithm->name);
  char mark = ':';
  for (std::size_t i = 0; i < one.algorithm->parameters.size(); ++i) {
    if (one.wanted[i] == 0) continue;
    text += fmt::format("{}{}={}", mark, one.algorithm->parameters[i].name, one.wanted[i]);
    mark = ',';
  }
  return text;
}

std::string tuning_text(const TuningPlace& place, std::span<const Decision> decisions) {
  return tuning_text_by_network(place, {{place.network, {decisions.begin(), decisions.end()}}});
}

std::string tuning_text_by_network(const TuningPlace& place, const DecisionsByNetwork& decisions) {
  std::string text = fmt::format(
      "{{\n  \"format\": \"{}\",\n  \"version\": {},\n  \"machine\": \"{}\",\n  \"conduit\": \"{}\",\n  "
      "\"decisions\": [",
      kTuningFormat, kTuningVersion, escaped(place.machine), escaped(place.conduit));
  std::string_view between = "\n";
  for (const auto& [network, all] : decisions) {
    for (const Decision& one : latest_of(all)) {  // sorted, so equal decisions give equal texts
      text += between;
      text += line_of(one, network);
      between = ",\n";
    }
  }
  return text + "\n  ]\n}\n";
}

TuningRead read_tuning(std::string_view text, const TuningPlace& place, AddedSpan added) {
  TuningRead read;
  const core::JsonRead json = core::read_json(text);
  const auto refuse = [&](std::string why) {
    read = {};
    read.problem = std::move(why);
    return read;
  };
  if (!json.problem.empty()) return refuse(fmt::format("it is damaged ({}); {}", json.problem, kAgain));
  const auto says = [&](const char* name) -> std::string {
    const Json* const found = json.value.find(name);
    return found != nullptr && found->kind == Json::Kind::text ? found->text : "";
  };
  if (says("format") != kTuningFormat)
    return refuse(
        fmt::format("it holds no decisions: its member 'format' is not \"{}\"; {}", kTuningFormat, kAgain));
  const Json* const version = json.value.find("version");
  const auto number = version != nullptr ? version->whole() : std::nullopt;
  if (!number) return refuse(fmt::format("it is damaged ('version' is no whole number); {}", kAgain));
  if (*number != kTuningVersion)
    return refuse(
        fmt::format("it has version {}, and this library reads {}; {}", *number, kTuningVersion, kAgain));
  if (!same_name(says("machine"), place.machine))
    return refuse(fmt::format("it is of another kind of machine (\"{}\", and this is \"{}\"); {} here",
                              says("machine"), place.machine, kAgain));
  if (!same_name(says("conduit"), place.conduit))
    return refuse(fmt::format("it is of conduit {}, not of {}; {}", says("conduit"), place.conduit, kAgain));
  const Json* const list = json.value.find("decisions");
  if (list == nullptr || list->kind != Json::Kind::list)
    return refuse(fmt::format("it is damaged ('decisions' is no list); {}", kAgain));
  for (const Json& entry : list->items) {
    std::string network;
    if (const auto decision = read_entry(entry, added, network))
      read.by_network[network].push_back(*decision);
    else
      ++read.unknown;
  }
  for (const auto& [network, all] : read.by_network) {  // that without a name comes first
    if (network.empty() || place.network.empty() || same_name(network, place.network))
      read.decisions.insert(read.decisions.end(), all.begin(), all.end());
  }
  return read;
}

}  // namespace aqueduct::coll
